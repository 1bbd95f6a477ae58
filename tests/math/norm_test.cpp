#include "math/norm.hpp"

#include <rapidcheck.h>

#include "base/error.hpp"
#include "catch.hpp"
#include "support/gradient_check.hpp"
#include "support/matrices.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

constexpr std::array kKinds{NormKind::layer, NormKind::rms};

template <class Real>
struct Normed {
  NormKind kind;
  Matrix<Real> x, gain, bias, normalized, inverse_deviation, y;

  Normed(NormKind what, Index rows, Index cols)
      : kind(what),
        x((random_matrix<Real>(rows, cols, 1, 3).array() + 5).matrix()),
        gain(random_matrix<Real>(1, cols, 2)),
        bias(random_matrix<Real>(1, what == NormKind::layer ? cols : 0, 3)),
        normalized(rows, cols),
        inverse_deviation(rows, 1),
        y(rows, cols) {}
  void forward() { normalize<Real>(kind, x, gain, bias, normalized, inverse_deviation, y); }
};

}  // namespace

TEST_CASE("kinds of norm have names") {
  for (const auto kind : kKinds) CHECK(parse_norm_kind(name_of(kind)) == kind);
  CHECK(name_of(NormKind::rms) == "rms");
  CHECK_THROWS_WITH(parse_norm_kind("batch"), ContainsSubstring("layer, rms"));
}

TEMPLATE_TEST_CASE("layer norm worked by hand", "", float, double) {
  Normed<TestType> norm(NormKind::layer, 2, 4);
  norm.x << 1, 3, 1, 3, 7, 7, 7, 7;
  norm.gain << 1, 2, 3, 4;
  norm.bias << 10, 20, 30, 40;
  norm.forward();
  const double s = 1 / std::sqrt(1 + kNormEpsilon);  // mean 2, variance 1
  Matrix<double> expected(2, 4);
  expected << 10 - s, 20 + 2 * s, 30 - 3 * s, 40 + 4 * s, 10, 20, 30, 40;
  CHECK(relative_difference(norm.y, expected) < 1e-6);
  CHECK(norm.inverse_deviation(0, 0) == Approx(s));
  CHECK(norm.inverse_deviation(1, 0) == Approx(1 / std::sqrt(kNormEpsilon)));
}

TEMPLATE_TEST_CASE("rms norm worked by hand", "", float, double) {
  Normed<TestType> norm(NormKind::rms, 2, 4);
  norm.x << 1, 7, 5, 5, 0, 0, 0, 0;  // mean square 25; nothing to divide by
  norm.gain << 1, 2, 3, 4;
  norm.forward();
  const double s = 1 / std::sqrt(25 + kNormEpsilon);
  Matrix<double> expected(2, 4);
  expected << s, 14 * s, 15 * s, 20 * s, 0, 0, 0, 0;
  CHECK(relative_difference(norm.y, expected) < 1e-6);
  CHECK(norm.inverse_deviation(0, 0) == Approx(s));
}

TEMPLATE_TEST_CASE("a norm may write over its input", "", float, double) {
  for (const auto kind : kKinds) {
    Normed<TestType> norm(kind, 3, 37);
    norm.forward();
    Matrix<TestType> in_place = norm.x;
    normalize<TestType>(kind, in_place, norm.gain, norm.bias, norm.normalized,
                        norm.inverse_deviation, in_place);
    CHECK(same_bits(in_place, norm.y));
  }
}

TEST_CASE("law: layer norm is that of what it centred by rms, and loses shift and scale") {
  REQUIRE(rc::check("any rows", [] {
    const Index width = *rc::gen::inRange(8, 40);
    const auto seed = *rc::gen::inRange(1U, 1000U);
    const double shift = *rc::gen::inRange(-20, 20), scale = *rc::gen::inRange(1, 9);
    Normed<double> layer(NormKind::layer, 3, width), rms(NormKind::rms, 3, width);
    layer.x = random_matrix<double>(3, width, seed, 2);
    layer.bias.setZero();
    rms.x = layer.x.colwise() - layer.x.rowwise().mean();
    layer.forward();
    rms.forward();
    RC_ASSERT(relative_difference(layer.y, rms.y) < 1e-10);

    const Matrix<double> y = layer.y;
    layer.x = (scale * layer.x.array() + shift).matrix();
    layer.forward();
    RC_ASSERT(relative_difference(layer.y, y) < 1e-3);  // but for ε
    const Matrix<double> z = rms.y;
    rms.x *= scale;
    rms.forward();
    RC_ASSERT(relative_difference(rms.y, z) < 1e-3);
  }));
}

TEST_CASE("the gradients of norms") {
  for (const auto kind : kKinds)
    for (const Index width : {1, 2, 7, 33}) {
      CAPTURE(name_of(kind), width);
      Normed<double> norm(kind, 3, width);
      const Matrix<double> weights = random_matrix<double>(3, width, 4);
      const auto loss = [&] {
        norm.forward();
        return norm.y.cwiseProduct(weights).sum();
      };
      loss();
      // Everything is added to what is there.
      Matrix<double> d_x = Matrix<double>::Constant(3, width, 0.5);
      Matrix<double> gain_gradient = Matrix<double>::Constant(1, width, 0.25);
      Matrix<double> bias_gradient = Matrix<double>::Constant(1, norm.bias.cols(), 0.125);
      MatrixRef<double> d_gain = gain_gradient, d_bias = bias_gradient;
      normalize_backward<double>(kind, weights, norm.gain, norm.normalized, norm.inverse_deviation,
                                 d_x, &d_gain, kind == NormKind::layer ? &d_bias : nullptr);
      Matrix<double> alone = Matrix<double>::Constant(3, width, 0.5);
      normalize_backward<double>(kind, weights, norm.gain, norm.normalized, norm.inverse_deviation,
                                 alone, nullptr, nullptr);
      CHECK(same_bits(alone, d_x));
      d_x.array() -= 0.5;
      gain_gradient.array() -= 0.25;
      bias_gradient.array() -= 0.125;
      CHECK(gradient_error(norm.x, d_x, loss) == "");
      CHECK(gradient_error(norm.gain, gain_gradient, loss) == "");
      CHECK(gradient_error(norm.bias, bias_gradient, loss) == "");
    }
}

TEST_CASE("norms in float are those in double") {
  for (const auto kind : kKinds) {
    Normed<double> wide(kind, 6, 45);
    Normed<float> narrow(kind, 6, 45);
    wide.forward();
    narrow.forward();
    CHECK(relative_difference(narrow.y, wide.y) < 1e-5);
    const Matrix<double> weights = random_matrix<double>(6, 45, 4);
    Matrix<double> d_wide = Matrix<double>::Zero(6, 45);
    Matrix<float> d_narrow = Matrix<float>::Zero(6, 45);
    normalize_backward<double>(kind, weights, wide.gain, wide.normalized, wide.inverse_deviation,
                               d_wide, nullptr, nullptr);
    normalize_backward<float>(kind, weights.cast<float>(), narrow.gain, narrow.normalized,
                              narrow.inverse_deviation, d_narrow, nullptr, nullptr);
    CHECK(relative_difference(d_narrow, d_wide) < 1e-5);
  }
}
