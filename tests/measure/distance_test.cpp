#include "catch.hpp"
#include "patterns.hpp"

namespace headcount {
namespace {

TEST_CASE("distance is the mean of |i - j| under the pattern") {
  Matrix<double> pattern(3, 3);
  pattern << 1, 0, 0,  //
      0.25, 0.75, 0,   //
      0.5, 0.25, 0.25;
  const auto causal = term("distance", pattern, AttentionMask::causal);
  CHECK(causal.sum == 0 + 0.25 + (0.5 * 2 + 0.25));
  CHECK(causal.weight == 3);
  CHECK(mean_of<float>("distance", pattern.cast<float>(), AttentionMask::causal) == 0.5);

  Matrix<double> forward(2, 2);
  forward << 0, 1,  //
      0.5, 0.5;
  CHECK(mean_of("distance", forward, AttentionMask::none) == 0.75);
}

TEST_CASE("a head that looks at itself or at the token before has distance 0 or 1") {
  Matrix<double> before = Matrix<double>::Zero(3, 4);  // causal: queries at positions 1, 2, 3
  for (Index i = 0; i < 3; ++i) before(i, i) = 1;
  CHECK(mean_of("distance", before, AttentionMask::causal) == 1);
  CHECK(mean_of("distance", before, AttentionMask::none) == 0);  // queries at 0, 1, 2
}

}  // namespace
}  // namespace headcount
