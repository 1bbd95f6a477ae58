#pragma once

#include "prune/pruning.hpp"

namespace headcount {

#define HEADCOUNT_ENTRY(entry) PruningMethod entry();
#include "prune/registry.def"
#undef HEADCOUNT_ENTRY

}  // namespace headcount
