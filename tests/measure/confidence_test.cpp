#include "catch.hpp"
#include "patterns.hpp"

namespace headcount {
namespace {

TEST_CASE("confidence is the mean of the largest weights") {
  Matrix<double> pattern(3, 3);
  pattern << 1, 0, 0,  //
      0.25, 0.75, 0,   //
      0.5, 0.375, 0.125;
  for (const auto mask : {AttentionMask::causal, AttentionMask::none}) {
    const auto found = term("confidence", pattern, mask);
    CHECK(found.sum == 2.25);
    CHECK(found.weight == 3);
    CHECK(mean_of("confidence", Matrix<double>(Matrix<double>::Identity(5, 5)), mask) == 1);
  }
  CHECK(mean_of("confidence", uniform_pattern(2, 4, AttentionMask::none), AttentionMask::none) ==
        0.25);
  CHECK(mean_of<float>("confidence", pattern.cast<float>(), AttentionMask::causal) == 0.75);
}

}  // namespace
}  // namespace headcount
