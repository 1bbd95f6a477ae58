#pragma once

#include "measure/measure.hpp"
#include "prune/pruning.hpp"

namespace headcount {

// Ĩ_h = I_h / √(Σ_{h' alive in the same layer} I_h'²) (Molchanov et al. 2017; Michel et al. 2019,
// section 3.3). A layer whose scores are all 0 gets 0.
HeadMap<double> normalized_by_layer(const HeadMap<double>& scores,
                                    const std::vector<HeadId>& alive);

// `heads` from the lowest score to the highest; ties by site, layer, head.
HeadOrder ascending(const HeadMap<double>& scores, std::vector<HeadId> heads);

}  // namespace headcount
