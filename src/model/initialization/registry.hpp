#pragma once

#include "model/initialization/scheme.hpp"

namespace headcount {

#define HEADCOUNT_ENTRY(entry) InitializationEntry entry();
#include "model/initialization/registry.def"
#undef HEADCOUNT_ENTRY

// Of xavier-uniform, from which other schemes depart.
Distribution xavier_uniform_distribution(const ParameterEntry& parameter,
                                         const InitialModel& model);

// The same with the weights of layer l = 1, 2, ... times l^-power. Zhang, Titov & Sennrich 2019 can
// be read in two ways: a bound times 1/√l is a variance times 1/l, a variance times 1/√l a bound
// times l^-¼.
Distribution depth_scaled(const ParameterEntry& parameter, const InitialModel& model, double power);

}  // namespace headcount
