#pragma once

#include "prune/pruning.hpp"

namespace headcount {

PruningMethod by_gradient_importance();
PruningMethod by_raw_gradient_importance();
PruningMethod by_gradient_importance_iteratively();
PruningMethod by_gradient_importance_reversed();
PruningMethod by_ablation_importance();
PruningMethod at_random();

}  // namespace headcount
