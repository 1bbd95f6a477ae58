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
}

TEST_CASE("activations go by their names") {
  CHECK(name_of(Activation::relu) == "relu");
  CHECK(name_of(Activation::gelu) == "gelu");
  CHECK(name_of(Activation::gelu_tanh) == "gelu-tanh");
  for (const auto activation : kActivations)
    CHECK(parse_activation(name_of(activation)) == activation);
  CHECK_THROWS_WITH(parse_activation("gelu-than"), ContainsSubstring("gelu-tanh"));
}

TEMPLATE_TEST_CASE("activations at known points", "", float, double) {
  Matrix<TestType> x(1, 5), y(1, 5);
  x << -30, -1, 0, 1, 30;
  activate<TestType>(Activation::relu, x, y);
  CHECK(relative_difference(y, (Matrix<double>(1, 5) << 0, 0, 0, 1, 30).finished()) == 0);
  // Φ(1) = 0.8413447460685429
  activate<TestType>(Activation::gelu, x, y);
  CHECK(
      relative_difference(
          y,
          (Matrix<double>(1, 5) << 0, -0.15865525393145705, 0, 0.8413447460685429, 30).finished()) <
      1e-7);
  CHECK(y(0, 1) == Approx(-0.15865525393145705).epsilon(1e-6));
  // ½ (1 + tanh(√(2/π) 1.044715)) = 0.8411919906082768
  activate<TestType>(Activation::gelu_tanh, x, y);
  CHECK(y(0, 3) == Approx(0.8411919906082768).epsilon(1e-6));
  CHECK(y(0, 1) == Approx(-0.1588080093917232).epsilon(1e-6));
  CHECK(y(0, 0) == Approx(0).margin(1e-6));
  CHECK(y(0, 4) == Approx(30));
}

TEST_CASE("the gradients of activations") {
  for (const auto activation : kActivations)
    for (const Index cols : {1, 13, 150}) {
      CAPTURE(name_of(activation), cols);
      Matrix<double> x = random_matrix<double>(2, cols, 3, 2), y(2, cols);
      const Matrix<double> weights = random_matrix<double>(2, cols, 4);
      Matrix<double> d = weights;
      activate_backward<double>(activation, x, d);
      CHECK(gradient_error(x, d, [&] {
              activate<double>(activation, x, y);
              return y.cwiseProduct(weights).sum();
            }) == "");
    }
}

TEST_CASE("activations in float are those in double") {
  const Matrix<double> x = random_matrix<double>(3, 77, 3, 3);
  for (const auto activation : kActivations) {
    CAPTURE(name_of(activation));
    Matrix<double> y(3, 77), d = Matrix<double>::Ones(3, 77);
    Matrix<float> y_float(3, 77), d_float = Matrix<float>::Ones(3, 77);
    activate<double>(activation, x, y);
    activate<float>(activation, x.cast<float>(), y_float);
    activate_backward<double>(activation, x, d);
    activate_backward<float>(activation, x.cast<float>(), d_float);
    CHECK(relative_difference(y_float, y) < 1e-6);
    CHECK(relative_difference(d_float, d) < 4e-6);
  }
}

TEMPLATE_TEST_CASE("activations do not hide a NaN", "", float, double) {
  for (const auto activation : kActivations) {
    CAPTURE(name_of(activation));
    Matrix<TestType> x = random_matrix<TestType>(1, 11, 1), y(1, 11);
    for (const Index at : {0, 5, 10}) x(0, at) = std::numeric_limits<TestType>::quiet_NaN();
    activate<TestType>(activation, x, y);
    for (const Index at : {0, 5, 10}) CHECK(std::isnan(y(0, at)));
  }
}
