// Half-precision floats (IEEE 754 binary16), as patterns are stored.
#pragma once

#include <cstdint>
#include <span>

namespace headcount {

struct Half {
  std::uint16_t bits = 0;
  bool operator==(const Half&) const = default;
};

inline constexpr Half kHalfNaN{0x7e00};

// Rounded to nearest, ties to even; what is too large becomes infinite, what is too small 0. A NaN
// stays one, quiet, with the upper bits of its payload.
Half to_half(float value);
float to_float(Half value);  // exact

// The same of many, by the processor's own instructions where the build may use them. `halves` has
// room for all values.
void to_halves(std::span<const float> values, std::span<Half> halves);

}  // namespace headcount
