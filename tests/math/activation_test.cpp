#include "math/activation.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "catch.hpp"
#include "support/gradient_check.hpp"
#include "support/matrices.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {
constexpr std::array kActivations{Activation::relu, Activation::gelu, Activation::gelu_tanh};

// activation(x + bias), bias 0 unless given, and its slope.
template <class Real>
struct Activated {
  Matrix<Real> y, slope;

  Activated(Activation activation, const Matrix<Real>& x)
      : Activated(activation, x, Matrix<Real>::Zero(1, x.cols())) {}
  Activated(Activation activation, const Matrix<Real>& x, const Matrix<Real>& bias)
      : y(x), slope(x.rows(), x.cols()) {
    MatrixRef<Real> slopes = slope;
    activate<Real>(activation, bias, y, &slopes);
  }
};

}  // namespace

TEST_CASE("activations go by their names") {
  CHECK(name_of(Activation::relu) == "relu");
  CHECK(name_of(Activation::gelu) == "gelu");
  CHECK(name_of(Activation::gelu_tanh) == "gelu-tanh");
  for (const auto activation : kActivations)
    CHECK(parse_activation(name_of(activation)) == activation);
  CHECK_THROWS_WITH(parse_activation("gelu-than"), ContainsSubstring("gelu-tanh"));
}

TEMPLATE_TEST_CASE("activations at known points", "", float, double) {
  Matrix<TestType> x(1, 5);
  x << -30, -1, 0, 1, 30;
  Matrix<TestType> y = Activated<TestType>(Activation::relu, x).y;
  CHECK(relative_difference(y, (Matrix<double>(1, 5) << 0, 0, 0, 1, 30).finished()) == 0);
  // Φ(1) = 0.8413447460685429
  y = Activated<TestType>(Activation::gelu, x).y;
  CHECK(
      relative_difference(
          y,
          (Matrix<double>(1, 5) << 0, -0.15865525393145705, 0, 0.8413447460685429, 30).finished()) <
      1e-7);
  CHECK(y(0, 1) == Approx(-0.15865525393145705).epsilon(1e-6));
  // ½ (1 + tanh(√(2/π) 1.044715)) = 0.8411919906082768
  y = Activated<TestType>(Activation::gelu_tanh, x).y;
  CHECK(y(0, 3) == Approx(0.8411919906082768).epsilon(1e-6));
  CHECK(y(0, 1) == Approx(-0.1588080093917232).epsilon(1e-6));
  CHECK(y(0, 0) == Approx(0).margin(1e-6));
  CHECK(y(0, 4) == Approx(30));
}

TEST_CASE("the gradients of activations, with respect to their input and its bias") {
  for (const auto activation : kActivations)
    for (const Index cols : {1, 13, 150}) {
      CAPTURE(name_of(activation), cols);
      Matrix<double> x = random_matrix<double>(2, cols, 3, 2);
      Matrix<double> bias = random_matrix<double>(1, cols, 5);
      const Matrix<double> weights = random_matrix<double>(2, cols, 4);
      Matrix<double> d = weights, d_bias_values = Matrix<double>::Zero(1, cols);
      MatrixRef<double> d_bias = d_bias_values;
      activate_backward<double>(Activated<double>(activation, x, bias).slope, d, &d_bias);
      const auto loss = [&] {
        return Activated<double>(activation, x, bias).y.cwiseProduct(weights).sum();
      };
      CHECK(gradient_error(x, d, loss) == "");
      CHECK(gradient_error(bias, d_bias_values, loss) == "");
      Matrix<double> again = weights;
      activate_backward<double>(Activated<double>(activation, x, bias).slope, again, nullptr);
      CHECK(same_bits(again, d));
    }
}

TEST_CASE("activations in float are those in double") {
  const Matrix<double> x = random_matrix<double>(3, 77, 3, 3);
  for (const auto activation : kActivations) {
    CAPTURE(name_of(activation));
    const Activated<double> exact(activation, x);
    const Activated<float> fast(activation, x.cast<float>());
    CHECK(relative_difference(fast.y, exact.y) < 1e-6);
    CHECK(relative_difference(fast.slope, exact.slope) < 4e-6);
  }
}

TEMPLATE_TEST_CASE("activations do not hide a NaN", "", float, double) {
  for (const auto activation : kActivations) {
    CAPTURE(name_of(activation));
    Matrix<TestType> x = random_matrix<TestType>(1, 11, 1);
    for (const Index at : {0, 5, 10}) x(0, at) = std::numeric_limits<TestType>::quiet_NaN();
    const Activated<TestType> result(activation, x);
    for (const Index at : {0, 5, 10}) CHECK(std::isnan(result.y(0, at)));
  }
}
