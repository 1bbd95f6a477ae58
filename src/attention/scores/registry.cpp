#include "attention/scores/registry.hpp"

namespace headcount {

const Registry<ScoreEntry>& score_functions() {
  static const Registry<ScoreEntry> registry("score function", {
#define HEADCOUNT_ENTRY(entry) entry(),
#include "attention/scores/registry.def"
#undef HEADCOUNT_ENTRY
                                                               });
  return registry;
}

}  // namespace headcount
