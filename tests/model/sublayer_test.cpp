#include "model/sublayer.hpp"

#include "base/error.hpp"
#include "catch.hpp"
#include "model/block.hpp"
#include "support/matrices.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

// A residual sublayer around f(x) = 3x, without dropout: gain 1, bias 0, ω = (2, ½), α = ½.
Matrix<double> around_triple(NormPlacement placement, Residual residual, const Matrix<double>& x,
                             NormKind kind = NormKind::layer) {
  ParameterLayout layout;
  const ResidualSublayer<double> sublayer({x.cols(), 0, placement, kind, residual}, "norm",
                                          "residual", 1, layout);
  Parameters<double> parameters(layout);
  if (layout.contains("norm.gain")) parameters.view("norm.gain").setOnes();
  if (residual == Residual::scaled_stream) parameters.view("residual.stream_scale") << 2, 0.5;
  if (residual == Residual::scaled_sublayer) parameters.view("residual.sublayer_scale") << 0.5;
  ResidualSublayer<double>::Cache cache;
  ResidualSublayer<double>::Scratch scratch;
  Matrix<double> stream = x;
  Matrix<double> gave;
  sublayer.forward(parameters, {}, 0, cache, scratch, stream,
                   [&](ConstMatrixView<double> input, MatrixRef<double> output) {
                     output = 3 * input;
                     gave = output;
                   });
  CHECK(same_bits(sublayer.given(cache, scratch), gave));
  return stream;
}

Matrix<double> pair(double a, double b) {
  Matrix<double> row(1, 2);
  row << a, b;
  return row;
}

}  // namespace

TEST_CASE("norm placements and residuals have names") {
  CHECK(norm_placement_names() == std::vector<std::string>{"pre", "post", "none"});
  for (const auto& name : norm_placement_names())
    CHECK(name_of(parse_norm_placement(name)) == name);
  CHECK(parse_norm_placement("post") == NormPlacement::post);
  CHECK_THROWS_WITH(parse_norm_placement("both"), ContainsSubstring("pre, post, none"));
  CHECK(residual_names() ==
        std::vector<std::string>{"plain", "none", "scaled-stream", "scaled-sublayer"});
  for (const auto& name : residual_names()) CHECK(name_of(parse_residual(name)) == name);
  CHECK(parse_residual("scaled-sublayer") == Residual::scaled_sublayer);
  CHECK_THROWS_WITH(parse_residual("scaled"), ContainsSubstring("scaled-stream"));
}

TEST_CASE("pre-norm adds to the stream, post-norm norms the sum, none leaves it, worked by hand") {
  const auto x = pair(5, 9);  // mean 7, deviation 2, mean square 53
  const double s = 2 / std::sqrt(4 + kNormEpsilon);
  const auto norm = [](double a, double b) {
    const double half = (b - a) / 2, root = std::sqrt(half * half + kNormEpsilon);
    return pair(-half / root, half / root);
  };
  const auto near = [&](NormPlacement placement, Residual residual, const Matrix<double>& wanted) {
    CAPTURE(name_of(placement), name_of(residual));
    CHECK(relative_difference(around_triple(placement, residual, x), wanted) < 1e-14);
  };
  using enum NormPlacement;
  near(pre, Residual::plain, pair(5 - 3 * s, 9 + 3 * s));
  near(pre, Residual::none, pair(-3 * s, 3 * s));
  near(pre, Residual::scaled_stream, pair(10 - 3 * s, 4.5 + 3 * s));
  near(pre, Residual::scaled_sublayer, pair(5 - 1.5 * s, 9 + 1.5 * s));
  near(post, Residual::plain, norm(20, 36));
  near(post, Residual::none, norm(15, 27));
  near(post, Residual::scaled_stream, norm(25, 31.5));
  near(post, Residual::scaled_sublayer, norm(12.5, 22.5));
  near(none, Residual::plain, pair(20, 36));
  near(none, Residual::none, pair(15, 27));
  near(none, Residual::scaled_stream, pair(25, 31.5));
  near(none, Residual::scaled_sublayer, pair(12.5, 22.5));
  const double r = 1 / std::sqrt(53 + kNormEpsilon);
  CHECK(relative_difference(around_triple(pre, Residual::plain, x, NormKind::rms),
                            pair(5 + 15 * r, 9 + 27 * r)) < 1e-14);
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
