#include "model/positions/registry.hpp"

namespace headcount {

const Registry<PositionEntry>& position_encodings() {
  static const Registry<PositionEntry> registry("position encoding", {
#define HEADCOUNT_ENTRY(entry) entry(),
#include "model/positions/registry.def"
#undef HEADCOUNT_ENTRY
                                                                     });
  return registry;
}

}  // namespace headcount
