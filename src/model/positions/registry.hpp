#pragma once

#include "model/positions/position_encoding.hpp"

namespace headcount {

PositionEntry no_positions();
PositionEntry sinusoidal_positions();
PositionEntry learned_positions();

}  // namespace headcount
