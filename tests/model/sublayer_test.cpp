#include "model/sublayer.hpp"

#include "base/error.hpp"
#include "catch.hpp"
#include "model/block.hpp"
#include "support/matrices.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

// A residual sublayer around f(x) = 3x, gain 1 and bias 0, without dropout.
Matrix<double> around_triple(NormPlacement placement, const Matrix<double>& x) {
  ParameterLayout layout;
  const ResidualSublayer<double> sublayer(placement, x.cols(), 0, "norm", 1, layout);
  Parameters<double> parameters(layout);
  parameters.view("norm.gain").setOnes();
  ResidualSublayer<double>::Cache cache;
  ResidualSublayer<double>::Scratch scratch;
  Matrix<double> stream = x;
  sublayer.forward(
      parameters, {}, 0, cache, scratch, stream,
      [](ConstMatrixView<double> input, MatrixRef<double> output) { output = 3 * input; });
  return stream;
}

}  // namespace

TEST_CASE("norm placements have names") {
  CHECK(parse_norm_placement("pre") == NormPlacement::pre);
  CHECK(parse_norm_placement("post") == NormPlacement::post);
  CHECK(name_of(NormPlacement::pre) == "pre");
  CHECK(name_of(NormPlacement::post) == "post");
  CHECK_THROWS_WITH(parse_norm_placement("both"), ContainsSubstring("pre, post"));
}

TEST_CASE("pre-norm adds to the stream, post-norm norms the sum") {
  Matrix<double> x(1, 2), pre(1, 2), post(1, 2);
  x << 5, 9;
  const double s = 2 / std::sqrt(4 + kLayerNormEpsilon);       // mean 7, deviation 2
  const double after = 8 / std::sqrt(64 + kLayerNormEpsilon);  // of (20, 36)
  pre << 5 - 3 * s, 9 + 3 * s;
  post << -after, after;
  CHECK(relative_difference(around_triple(NormPlacement::pre, x), pre) < 1e-14);
  CHECK(relative_difference(around_triple(NormPlacement::post, x), post) < 1e-14);
}

TEST_CASE("places of dropout are told apart") {
  std::vector<std::uint32_t> places;
  for (const Site site : kSites)
    for (const int layer : {0, 1, 4095})
      for (const auto place : {DropoutPlace::pattern, DropoutPlace::attention,
                               DropoutPlace::feed_forward, DropoutPlace::embedding})
        places.push_back(dropout_place(site, layer, place));
  for (const auto place : places) CHECK(place < 1U << 24);
  std::sort(places.begin(), places.end());
  CHECK(std::adjacent_find(places.begin(), places.end()) == places.end());
}
