#include "math/layer_norm.hpp"

#include "catch.hpp"
#include "support/gradient_check.hpp"
#include "support/matrices.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

template <class Real>
struct Norm {
  Matrix<Real> x, gain, bias, normalized, inverse_deviation, y;

  Norm(Index rows, Index cols)
      : x((random_matrix<Real>(rows, cols, 1, 3).array() + 5).matrix()),
        gain(random_matrix<Real>(1, cols, 2)),
        bias(random_matrix<Real>(1, cols, 3)),
        normalized(rows, cols),
        inverse_deviation(rows, 1),
        y(rows, cols) {}
  void forward() { layer_norm<Real>(x, gain, bias, normalized, inverse_deviation, y); }
};

}  // namespace

TEMPLATE_TEST_CASE("layer norm worked by hand", "", float, double) {
  Norm<TestType> norm(2, 4);
  norm.x << 1, 3, 1, 3, 7, 7, 7, 7;
  norm.gain << 1, 2, 3, 4;
  norm.bias << 10, 20, 30, 40;
  norm.forward();
  const double s = 1 / std::sqrt(1 + kLayerNormEpsilon);  // mean 2, variance 1
  Matrix<double> expected(2, 4);
  expected << 10 - s, 20 + 2 * s, 30 - 3 * s, 40 + 4 * s, 10, 20, 30, 40;
  CHECK(relative_difference(norm.y, expected) < 1e-6);
  CHECK(norm.inverse_deviation(0, 0) == Approx(s));
  CHECK(norm.inverse_deviation(1, 0) == Approx(1 / std::sqrt(kLayerNormEpsilon)));

  Matrix<TestType> in_place = norm.x;
  layer_norm<TestType>(in_place, norm.gain, norm.bias, norm.normalized, norm.inverse_deviation,
                       in_place);
  CHECK(same_bits(in_place, norm.y));
}

TEST_CASE("the gradients of layer norm") {
  for (const Index width : {1, 2, 7, 33}) {
    CAPTURE(width);
    Norm<double> norm(3, width);
    const Matrix<double> weights = random_matrix<double>(3, width, 4);
    const auto loss = [&] {
      norm.forward();
      return norm.y.cwiseProduct(weights).sum();
    };
    loss();
    // Everything is added to what is there.
    Matrix<double> d_x = Matrix<double>::Constant(3, width, 0.5);
    Matrix<double> gain_gradient = Matrix<double>::Constant(1, width, 0.25);
    Matrix<double> bias_gradient = Matrix<double>::Constant(1, width, 0.125);
    MatrixRef<double> d_gain = gain_gradient, d_bias = bias_gradient;
    layer_norm_backward<double>(weights, norm.gain, norm.normalized, norm.inverse_deviation, d_x,
                                &d_gain, &d_bias);
    Matrix<double> alone = Matrix<double>::Constant(3, width, 0.5);
    layer_norm_backward<double>(weights, norm.gain, norm.normalized, norm.inverse_deviation, alone,
                                nullptr, nullptr);
    CHECK(same_bits(alone, d_x));
    d_x.array() -= 0.5;
    gain_gradient.array() -= 0.25;
    bias_gradient.array() -= 0.125;
    CHECK(gradient_error(norm.x, d_x, loss) == "");
    CHECK(gradient_error(norm.gain, gain_gradient, loss) == "");
    CHECK(gradient_error(norm.bias, bias_gradient, loss) == "");
  }
}

TEST_CASE("layer norm in float is that in double") {
  Norm<double> wide(6, 45);
  Norm<float> narrow(6, 45);
  wide.forward();
  narrow.forward();
  CHECK(relative_difference(narrow.y, wide.y) < 1e-5);
  const Matrix<double> weights = random_matrix<double>(6, 45, 4);
  Matrix<double> d_wide = Matrix<double>::Zero(6, 45);
  Matrix<float> d_narrow = Matrix<float>::Zero(6, 45);
  layer_norm_backward<double>(weights, wide.gain, wide.normalized, wide.inverse_deviation, d_wide,
                              nullptr, nullptr);
  layer_norm_backward<float>(weights.cast<float>(), narrow.gain, narrow.normalized,
                             narrow.inverse_deviation, d_narrow, nullptr, nullptr);
  CHECK(relative_difference(d_narrow, d_wide) < 1e-5);
}
