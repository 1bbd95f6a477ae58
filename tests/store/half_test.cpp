#include "store/half.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <rapidcheck.h>

#include "catch.hpp"

namespace headcount {
namespace {

// What a half means, by its definition.
double value_of(std::uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 0x1f);
  const double fraction = bits & 0x3ff, sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 0x1f)
    return fraction == 0 ? sign * HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

std::uint16_t many(float value) {
  const std::vector<float> values(9, value);  // eight by the processor, one by the plain code
  std::vector<Half> halves(9);
  to_halves(values, halves);
  for (const Half half : halves) CHECK(half == halves.front());
  CHECK(to_half(value) == halves.front());
  return halves.front().bits;
}

TEST_CASE("every half is a float, and comes back from it") {
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits)
    values.push_back(to_float({static_cast<std::uint16_t>(bits)}));
  std::vector<Half> halves(values.size());
  to_halves(values, halves);
  std::size_t wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double expected = value_of(bits);
    const bool is_nan = std::isnan(expected);
    const std::uint32_t back = is_nan ? bits | 0x200 : bits;  // a NaN becomes quiet
    const bool right =
        is_nan ? std::isnan(values[bits])
               : values[bits] == expected && std::signbit(values[bits]) == std::signbit(expected);
    wrong += !right || halves[bits].bits != back || to_half(values[bits]).bits != back;
  }
  CHECK(wrong == 0);
}

TEST_CASE("between two halves the nearer one is taken, and the even one from the middle") {
  std::size_t wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const double below = value_of(bits), above = value_of(bits + 1);
    const auto middle = static_cast<float>((below + above) / 2);
    const std::array values{std::nextafter(middle, 0.0F), middle,
                            std::nextafter(middle, HUGE_VALF)};
    const std::array expected{bits, bits + (bits & 1), bits + 1};
    std::array<Half, 3> negative{};
    for (std::size_t i = 0; i < 3; ++i) {
      wrong += to_half(values[i]).bits != expected[i];
      negative[i] = to_half(-values[i]);
      wrong += negative[i].bits != (expected[i] | 0x8000);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("what no half can say") {
  CHECK(many(65519.0F) == 0x7bff);  // nearer to 65504 than to 65536
  CHECK(many(65520.0F) == 0x7c00);
  CHECK(many(1e30F) == 0x7c00);
  CHECK(many(-HUGE_VALF) == 0xfc00);
  CHECK(many(0x1p-25F) == 0);  // the middle of 0 and the least
  CHECK(many(std::nextafter(0x1p-25F, 1.0F)) == 1);
  CHECK(many(std::numeric_limits<float>::denorm_min()) == 0);
  CHECK(many(-std::numeric_limits<float>::denorm_min()) == 0x8000);
  CHECK(many(std::numeric_limits<float>::quiet_NaN()) == kHalfNaN.bits);
  CHECK(many(std::bit_cast<float>(0xff802000U)) == 0xfe01);  // signalling, with a payload
  CHECK(std::isnan(to_float(kHalfNaN)));
}

TEST_CASE("the processor and the plain code agree on any float") {
  REQUIRE(rc::check("bits", [] {
    std::vector<float> values;
    for (const auto bits : *rc::gen::container<std::vector<std::uint32_t>>(
             64, rc::gen::oneOf(rc::gen::arbitrary<std::uint32_t>(),
                                rc::gen::inRange<std::uint32_t>(0x32000000, 0x48000000))))
      values.push_back(std::bit_cast<float>(bits));
    std::vector<Half> halves(values.size());
    to_halves(values, halves);
    for (std::size_t i = 0; i < values.size(); ++i) RC_ASSERT(halves[i] == to_half(values[i]));
  }));
}

TEST_CASE("fewer than eight at a time, and none") {
  const std::vector<float> values{1, 0.5, 0.25};
  std::vector<Half> halves(3);
  to_halves(values, halves);
  CHECK(halves == std::vector<Half>{{0x3c00}, {0x3800}, {0x3400}});
  to_halves({}, {});
}

}  // namespace
}  // namespace headcount
