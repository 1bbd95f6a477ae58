#pragma once

#include "model/positions/position_encoding.hpp"

namespace headcount {

#define HEADCOUNT_ENTRY(entry) PositionEntry entry();
#include "model/positions/registry.def"
#undef HEADCOUNT_ENTRY

}  // namespace headcount
