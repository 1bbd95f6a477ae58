#include "base/error.hpp"
#include "catch.hpp"
#include "model/positions/scores.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

constexpr Index kLongest = 300;

// The bucket of each offset from -(longest - 1) on, where bucket b adds b to a score.
std::vector<int> buckets(AttentionMask mask) {
  Encoded<double> bias("relative-bias", encoded_stack({1}, mask, kLongest));
  auto table = bias.parameters.view("decoder.relative_bias");
  REQUIRE(table.cols() == 32);
  for (Index b = 0; b < 32; ++b) table(0, b) = static_cast<double>(b);
  const auto added = bias.added(0, 0, kLongest);
  std::vector<int> buckets;
  for (Index j = 0; j < kLongest; ++j) buckets.push_back(static_cast<int>(added(kLongest - 1, j)));
  if (mask == AttentionMask::none)
    for (Index j = 1; j < kLongest; ++j) buckets.push_back(static_cast<int>(added(0, j)));
  return buckets;
}

}  // namespace

// As mesh-tensorflow's _relative_position_bucket: 16 exact distances, then 16 + ⌊16 ln(d/16)/ln 8⌋.
TEST_CASE("relative biases: buckets of the past") {
  const auto found = buckets(AttentionMask::causal);
  const auto past = [&](Index distance) { return found[std::size_t(kLongest - 1 - distance)]; };
  for (Index distance = 0; distance < 16; ++distance) CHECK(past(distance) == distance);
  CHECK(past(16) == 16);
  CHECK(past(18) == 16);  // 16 · 8^(1/16) = 18.2
  CHECK(past(19) == 17);
  CHECK(past(112) == 30);
  CHECK(past(113) == 31);  // 16 · 8^(15/16) = 112.4
  CHECK(past(128) == 31);
  CHECK(past(299) == 31);
}

// Without a mask: 8 exact distances, then 8 + ⌊8 ln(d/8)/ln 16⌋, and 16 more for the future.
TEST_CASE("relative biases: buckets of past and future") {
  const auto found = buckets(AttentionMask::none);
  for (const int side : {-1, 1}) {
    const auto bucket = [&](Index distance) {
      return found[std::size_t(kLongest - 1 + side * distance)] - (side > 0 ? 16 : 0);
    };
    const std::vector<std::pair<Index, int>> starts{{1, 1},   {7, 7},   {8, 8},   {12, 9},
                                                    {16, 10}, {23, 11}, {32, 12}, {46, 13},
                                                    {64, 14}, {91, 15}, {299, 15}};
    for (std::size_t i = 0; i < starts.size(); ++i) {
      CAPTURE(side, starts[i].first);
      CHECK(bucket(starts[i].first) == starts[i].second);
      if (starts[i].first > 1 && starts[i].first < 299)
        CHECK(bucket(starts[i].first - 1) == starts[i].second - 1);
    }
  }
  CHECK(found[kLongest - 1] == 0);
}

TEMPLATE_TEST_CASE(
    "relative biases are the same wherever a pair stands, of the head, of all layers", "", float,
    double) {
  for (const auto mask : {AttentionMask::causal, AttentionMask::none}) {
    Encoded<TestType> bias("relative-bias", encoded_stack({2, 3}, mask, 40));
    REQUIRE(bias.layout.count() == 3 * 32);
    CHECK(bias.layout.at("decoder.relative_bias").layer == -1);
    const auto added = bias.added(0, 1, 40);
    for (Index i = 1; i < 40; ++i)
      for (Index j = 1; j < 40; ++j) CHECK(added(i, j) == added(i - 1, j - 1));
    CHECK(same_bits(bias.added(1, 1, 40), added));
    CHECK_FALSE(same_bits(bias.added(1, 2, 40), added));
    // A short sequence sees the same offsets.
    CHECK(same_bits(bias.added(0, 1, 7), added.topLeftCorner(7, 7)));
  }
}

TEST_CASE("relative biases refuse a sequence longer than they were made for") {
  Encoded<float> bias("relative-bias", encoded_stack({2}, AttentionMask::causal, 5));
  CHECK_THROWS_WITH(bias.added(0, 0, 6), ContainsSubstring("5 positions"));
}
