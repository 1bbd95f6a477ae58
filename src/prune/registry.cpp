#include "prune/registry.hpp"

namespace headcount {

const Registry<PruningMethod>& pruning_methods() {
  static const Registry<PruningMethod> registry(
      "pruning method",
      {by_gradient_importance(), by_raw_gradient_importance(), by_gradient_importance_iteratively(),
       by_gradient_importance_reversed(), by_ablation_importance(), at_random()});
  return registry;
}

}  // namespace headcount
