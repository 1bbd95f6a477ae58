#include "prune/registry.hpp"

namespace headcount {

const Registry<PruningMethod>& pruning_methods() {
  static const Registry<PruningMethod> registry("pruning method", {
#define HEADCOUNT_ENTRY(entry) entry(),
#include "prune/registry.def"
#undef HEADCOUNT_ENTRY
                                                                  });
  return registry;
}

}  // namespace headcount
