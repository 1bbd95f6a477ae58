#pragma once

#include "model/positions/position_encoding.hpp"

namespace headcount {

#define POSITION_ENCODING(entry) PositionEntry entry();
#include "model/positions/registry.def"
#undef POSITION_ENCODING

}  // namespace headcount
