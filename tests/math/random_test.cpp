#include "math/random.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include <rapidcheck.h>

#include "catch.hpp"

using namespace headcount;
using Words = std::array<std::uint32_t, 4>;

TEST_CASE("philox gives the published known answers") {
  // The vectors that accompany Salmon et al. 2011, for philox4x32 with 10 rounds.
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t kOnes = 0xffffffff;
  CHECK(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a stream is the philox blocks of its key and counter, in order") {
  RandomStream stream(0x0123456789abcdef, Purpose::dropout, 7, 11);
  for (std::uint32_t draw = 0; draw < 3; ++draw)
    for (const std::uint32_t word : philox({draw, 11, 7, 3}, {0x89abcdef, 0x01234567}))
      CHECK(stream.next() == word);
}

TEST_CASE("streams differ in seed, purpose, step and item") {
  const auto first = [](std::uint64_t seed, Purpose purpose, std::uint32_t step,
                        std::uint32_t item) {
    return RandomStream(seed, purpose, step, item).next();
  };
  const std::set<std::uint32_t> different{first(1, Purpose::dropout, 0, 0),
                                          first(2, Purpose::dropout, 0, 0),
                                          first(1 + (1ull << 32), Purpose::dropout, 0, 0),
                                          first(1, Purpose::data_order, 0, 0),
                                          first(1, Purpose::dropout, 1, 0),
                                          first(1, Purpose::dropout, 0, 1)};
  CHECK(different.size() == 6);
}

TEST_CASE("uniform numbers are uniform from 0 up to 1") {
  RandomStream stream(5, Purpose::measure, 0, 0);
  constexpr int kDraws = 100'000, kBins = 20;
  std::array<int, kBins> counts{};
  for (int i = 0; i < kDraws; ++i) {
    const double u = stream.uniform();
    REQUIRE((u >= 0 && u < 1));
    ++counts[static_cast<std::size_t>(u * kBins)];
  }
  double chi_square = 0;
  constexpr double kExpected = double(kDraws) / kBins;
  for (const int count : counts)
    chi_square += (count - kExpected) * (count - kExpected) / kExpected;
  CHECK(chi_square < 43.8);  // the 0.999 quantile with 19 degrees of freedom
}

TEST_CASE("normal numbers have the moments and the tails of the normal distribution") {
  RandomStream stream(6, Purpose::initialization, 0, 0);
  constexpr int kDraws = 200'000;
  double sum = 0, squares = 0, cubes = 0, fourths = 0, product = 0, last = 0;
  int beyond_two = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = stream.normal();
    REQUIRE(std::isfinite(x));
    sum += x;
    squares += x * x;
    cubes += x * x * x;
    fourths += x * x * x * x;
    product += x * last;
    beyond_two += std::abs(x) > 2;
    last = x;
  }
  // Each bound is about four standard errors.
  CHECK(sum / kDraws == Approx(0).margin(0.009));
  CHECK(squares / kDraws == Approx(1).margin(0.013));
  CHECK(cubes / kDraws == Approx(0).margin(0.035));
  CHECK(fourths / kDraws == Approx(3).margin(0.09));
  CHECK(product / kDraws == Approx(0).margin(0.009));
  CHECK(double(beyond_two) / kDraws == Approx(0.0455).margin(0.002));
}

TEST_CASE("below stays below its bound and reaches all of it evenly") {
  REQUIRE(rc::check("below", [](std::uint64_t seed, std::uint32_t item) {
    const auto bound = *rc::gen::nonZero<std::uint32_t>();
    RandomStream stream(seed, Purpose::data_order, 0, item);
    for (int i = 0; i < 20; ++i) RC_ASSERT(stream.below(bound) < bound);
  }));

  RandomStream stream(7, Purpose::data_order, 0, 0);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60'000; ++i) ++counts[stream.below(6)];
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - 1e4) * (count - 1e4) / 1e4;
  CHECK(chi_square < 20.5);  // 0.999, 5 degrees of freedom

  // A bound of 3/4 of the range: without rejection every third value would come twice as often.
  int low_third = 0;
  constexpr std::uint32_t kBound = 3u << 30;
  for (int i = 0; i < 30'000; ++i) low_third += stream.below(kBound) % 3 == 0;
  CHECK(double(low_third) / 30'000 == Approx(1.0 / 3).margin(0.011));
}

TEST_CASE("shuffle permutes, and every order is as likely") {
  REQUIRE(rc::check("a permutation", [](std::uint64_t seed, const std::vector<int>& items) {
    auto shuffled = items;
    RandomStream(seed, Purpose::data_order, 0, 0).shuffle(shuffled);
    RC_ASSERT(std::is_permutation(items.begin(), items.end(), shuffled.begin()));
  }));

  std::array<int, 6> counts{};
  for (std::uint32_t item = 0; item < 12'000; ++item) {
    std::vector<int> order{0, 1, 2};
    RandomStream(8, Purpose::pruning_order, 0, item).shuffle(order);
    ++counts[static_cast<std::size_t>(order[0] * 2 + (order[1] > order[2]))];
  }
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - 2e3) * (count - 2e3) / 2e3;
  CHECK(chi_square < 20.5);
}
