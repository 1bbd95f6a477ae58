#include "attention/scores/registry.hpp"

namespace headcount {

const Registry<ScoreEntry>& score_functions() {
  static const Registry<ScoreEntry> registry("score function",
                                             {scaled_dot_score(), dot_score(), additive_score()});
  return registry;
}

}  // namespace headcount
