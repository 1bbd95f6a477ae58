#include "math/activation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unsupported/Eigen/SpecialFunctions>

#include "base/registry.hpp"

namespace headcount {
namespace {

struct ActivationEntry {
  About about;
  Activation activation;
};

const Registry<ActivationEntry>& activations() {
  static const Registry<ActivationEntry> registry(
      "activation", {{{"relu", "max(0, x)", ""}, Activation::relu},
                     {{"gelu", "x Φ(x)", "Hendrycks & Gimpel 2016"}, Activation::gelu},
                     {{"gelu-tanh", "tanh approximation of gelu", "Hendrycks & Gimpel 2016"},
                      Activation::gelu_tanh}});
  return registry;
}

constexpr double kGeluCubic = 0.044715;
const double kSqrtTwoOverPi = std::sqrt(2 / std::numbers::pi);

}  // namespace

std::string_view name_of(Activation activation) {
  return activations().entries()[static_cast<std::size_t>(activation)].about.name;
}

Activation parse_activation(std::string_view name) { return activations().at(name).activation; }

template <class Real>
void activate(Activation activation, ConstMatrixRef<Real> x, MatrixRef<Real> y) {
  const auto a = x.array();
  switch (activation) {
    case Activation::relu:
      y = a.max(Real{0}).matrix();
      break;
    case Activation::gelu:
      y = (a * Real{0.5} * (1 + (a * static_cast<Real>(std::numbers::sqrt2 / 2)).erf())).matrix();
      break;
    case Activation::gelu_tanh: {
      const Real c = static_cast<Real>(kSqrtTwoOverPi), cubic = static_cast<Real>(kGeluCubic);
      y = (a * Real{0.5} * (1 + (c * (a + cubic * a.cube())).tanh())).matrix();
      break;
    }
  }
}

template <class Real>
void activate_backward(Activation activation, ConstMatrixRef<Real> x, MatrixRef<Real> d) {
  const auto a = x.array();
  switch (activation) {
    case Activation::relu:
      d = (a > Real{0}).select(d, Real{0});
      break;
    case Activation::gelu: {  // Φ(x) + x φ(x)
      const Real density = static_cast<Real>(0.5 * std::numbers::inv_sqrtpi * std::numbers::sqrt2);
      d.array() *= Real{0.5} * (1 + (a * static_cast<Real>(std::numbers::sqrt2 / 2)).erf()) +
                   a * density * (a.square() * Real{-0.5}).exp();
      break;
    }
    case Activation::gelu_tanh: {  // with t = tanh(u): ½(1 + t) + ½ x (1 - t²) u'
      const Real c = static_cast<Real>(kSqrtTwoOverPi), cubic = static_cast<Real>(kGeluCubic);
      constexpr Index kPiece = 64;  // t of one piece of a row at a time, without allocating
      for (Index i = 0; i < x.rows(); ++i)
        for (Index j = 0; j < x.cols(); j += kPiece) {
          const Index n = std::min(kPiece, x.cols() - j);
          const auto piece = x.row(i).segment(j, n).array();
          const Eigen::Array<Real, 1, Eigen::Dynamic, Eigen::RowMajor, 1, kPiece> t =
              (c * (piece + cubic * piece.cube())).tanh();
          d.row(i).segment(j, n).array() *=
              Real{0.5} * (1 + t) +
              Real{0.5} * piece * (1 - t.square()) * c * (1 + 3 * cubic * piece.square());
        }
      break;
    }
  }
}

#define HEADCOUNT_INSTANTIATE(Real)                                                \
  template void activate<Real>(Activation, ConstMatrixRef<Real>, MatrixRef<Real>); \
  template void activate_backward<Real>(Activation, ConstMatrixRef<Real>, MatrixRef<Real>);
HEADCOUNT_INSTANTIATE(float)
HEADCOUNT_INSTANTIATE(double)
#undef HEADCOUNT_INSTANTIATE

}  // namespace headcount
