#include "model/initialization/registry.hpp"

namespace headcount {

const Registry<InitializationEntry>& initialization_schemes() {
  static const Registry<InitializationEntry> registry("initialization scheme", {
#define HEADCOUNT_ENTRY(entry) entry(),
#include "model/initialization/registry.def"
#undef HEADCOUNT_ENTRY
                                                                               });
  return registry;
}

}  // namespace headcount
