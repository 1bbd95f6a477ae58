#pragma once

#include "attention/scores/score_function.hpp"

namespace headcount {

#define HEADCOUNT_ENTRY(entry) ScoreEntry entry();
#include "attention/scores/registry.def"
#undef HEADCOUNT_ENTRY

}  // namespace headcount
