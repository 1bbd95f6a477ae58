#include "store/half.hpp"

#include <bit>

#ifdef __F16C__
#include <immintrin.h>
#endif

namespace headcount {
namespace {

constexpr std::uint32_t kSign = 0x8000, kInfinity = 0x7c00, kQuiet = 0x0200, kPayload = 0x03ff;

// bits / 2^shift, rounded to nearest, ties to even; 0 < shift < 32.
std::uint32_t shift_rounded(std::uint32_t bits, std::uint32_t shift) {
  const std::uint32_t below_half = (1U << (shift - 1)) - 1, odd = bits >> shift & 1U;
  return (bits + below_half + odd) >> shift;
}

// Of a number without its sign. A carry out of the fraction raises the exponent, as it should.
std::uint32_t magnitude(std::uint32_t bits) {
  constexpr std::uint32_t kFloatInfinity = 0x7f800000, kTooLarge = 0x47800000,  // 2^16
      kSmallestNormal = 0x38800000,                                             // 2^-14
      kTooSmall = 0x33000000;                                                   // 2^-25
  if (bits > kFloatInfinity) return kInfinity | kQuiet | (bits >> 13 & kPayload);
  if (bits >= kTooLarge) return kInfinity;
  if (bits >= kSmallestNormal) return shift_rounded(bits - (112U << 23), 13);
  if (bits <= kTooSmall) return 0;
  // A multiple of 2^-24: the fraction with its hidden bit, by the distance of the exponents.
  return shift_rounded((bits & 0x7fffff) | 0x800000, 126 - (bits >> 23));
}

}  // namespace

Half to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return {static_cast<std::uint16_t>((bits >> 16 & kSign) | magnitude(bits & 0x7fffffff))};
}

float to_float(Half value) {
  const std::uint32_t sign = (value.bits & kSign) << 16, exponent = value.bits >> 10 & 0x1fU,
                      fraction = value.bits & kPayload;
  if (exponent == 0x1f) {
    const std::uint32_t quiet = fraction == 0 ? 0 : kQuiet << 13;
    return std::bit_cast<float>(sign | 0x7f800000 | quiet | fraction << 13);
  }
  if (exponent > 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float small = static_cast<float>(fraction) * 0x1p-24F;
  return sign == 0 ? small : -small;
}

void to_halves(std::span<const float> values, std::span<Half> halves) {
  std::size_t i = 0;
#ifdef __F16C__
  static_assert(sizeof(Half) == 2);
  for (; i + 8 <= values.size(); i += 8)
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(halves.data() + i),
        _mm256_cvtps_ph(_mm256_loadu_ps(values.data() + i), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (; i < values.size(); ++i) halves[i] = to_half(values[i]);
}

}  // namespace headcount
