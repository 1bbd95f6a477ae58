#include "measure/entropy.hpp"

#include <cmath>

#include "catch.hpp"
#include "patterns.hpp"

namespace headcount {
namespace {

constexpr auto kCausal = AttentionMask::causal, kNone = AttentionMask::none;

TEST_CASE("entropy of a few weights, in nats") {
  const double half[]{0.5, 0.5}, mixed[]{0.5, 0.25, 0.25, 0}, sure[]{0, 1, 0};
  CHECK(entropy_of(half, 2) == Approx(std::log(2)).epsilon(1e-15));
  CHECK(entropy_of(mixed, 4) == Approx(1.5 * std::log(2)).epsilon(1e-15));
  CHECK(entropy_of(mixed, 1) == Approx(0.5 * std::log(2)).epsilon(1e-15));
  CHECK(entropy_of(sure, 3) == 0);
  CHECK(entropy_of(half, 0) == 0);
}

TEST_CASE("the entropy of a uniform pattern is ln n of each row") {
  CHECK(mean_of("entropy", uniform_pattern(3, 5, kNone), kNone) == Approx(std::log(5)));
  const auto causal = term("entropy", uniform_pattern(3, 3, kCausal), kCausal);
  CHECK(causal.sum == Approx(std::log(1 * 2 * 3)));
  CHECK(causal.weight == 3);
  // queries at the end of longer keys see 3, 4 and 5 of them
  CHECK(mean_of("entropy", uniform_pattern(3, 5, kCausal), kCausal) ==
        Approx(std::log(3 * 4 * 5) / 3));
}

TEST_CASE("normalized entropy of a uniform pattern is 1 and rows without a choice do not count") {
  const auto causal = term("entropy.normalized", uniform_pattern(3, 3, kCausal), kCausal);
  CHECK(causal.sum == Approx(2));
  CHECK(causal.weight == 2);
  CHECK(mean_of("entropy.normalized", uniform_pattern(4, 6, kNone), kNone) == Approx(1));
  CHECK(term("entropy.normalized", uniform_pattern(1, 1, kCausal), kCausal).weight == 0);
}

TEST_CASE("entropy is 0 where every query looks at one key") {
  const Matrix<double> pattern = Matrix<double>::Identity(4, 4);
  for (const auto mask : {kCausal, kNone}) {
    CHECK(term("entropy", pattern, mask).sum == 0);
    CHECK(term("entropy.normalized", pattern, mask).sum == 0);
  }
}

TEST_CASE("a pattern worked by hand") {
  Matrix<double> pattern(3, 3);
  pattern << 1, 0, 0,  //
      0.25, 0.75, 0,   //
      0.5, 0.25, 0.25;
  const double second = -(0.25 * std::log(0.25) + 0.75 * std::log(0.75));
  const double third = 1.5 * std::log(2);
  CHECK(mean_of("entropy", pattern, kCausal) == Approx((second + third) / 3));
  CHECK(mean_of("entropy.normalized", pattern, kCausal) ==
        Approx((second / std::log(2) + third / std::log(3)) / 2));
  CHECK(mean_of("entropy.normalized", pattern, kNone) ==
        Approx((second + third) / (3 * std::log(3))));
  CHECK(mean_of<float>("entropy", pattern.cast<float>(), kCausal) ==
        Approx((second + third) / 3).epsilon(1e-6));
}

}  // namespace
}  // namespace headcount
