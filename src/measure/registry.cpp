#include "measure/registry.hpp"

namespace headcount {

const Registry<MeasureEntry>& measures() {
  static const Registry<MeasureEntry> registry("measure", {
#define HEADCOUNT_ENTRY(entry) entry(),
#include "measure/registry.def"
#undef HEADCOUNT_ENTRY
                                                          });
  return registry;
}

}  // namespace headcount
