#include "math/dropout.hpp"

namespace headcount {

DropoutSource Dropout::source(std::uint32_t place, Index first_row,
                              std::uint32_t first_column) const {
  if (!active()) return {};
  DropoutSource source;
  source.threshold = static_cast<std::uint32_t>(rate * 0x1p32);
  source.scale = 1 / (1 - rate);
  source.key[0] = static_cast<std::uint32_t>(seed);
  source.key[1] = static_cast<std::uint32_t>(seed >> 32);
  source.step = step;
  source.purpose = static_cast<std::uint32_t>(Purpose::dropout) | place << 8;
  source.first_row = static_cast<std::uint32_t>(first_row);
  source.first_column = first_column;
  return source;
}

}  // namespace headcount
