#pragma once

#include "model/initialization/scheme.hpp"

namespace headcount {

InitializationEntry xavier_uniform();
InitializationEntry xavier_normal();
InitializationEntry kaiming();
InitializationEntry orthogonal_initialization();
InitializationEntry normal_initialization();
InitializationEntry gpt2_initialization();
InitializationEntry ds_init_bound();
InitializationEntry ds_init_variance();
InitializationEntry t_fixup();
InitializationEntry admin_initialization();
InitializationEntry rezero();

// Of xavier-uniform, from which other schemes depart.
Distribution xavier_uniform_distribution(const ParameterEntry& parameter,
                                         const InitialModel& model);

// The same with the weights of layer l = 1, 2, ... times l^-power. Zhang, Titov & Sennrich 2019 can
// be read in two ways: a bound times 1/√l is a variance times 1/l, a variance times 1/√l a bound
// times l^-¼.
Distribution depth_scaled(const ParameterEntry& parameter, const InitialModel& model, double power);

}  // namespace headcount
