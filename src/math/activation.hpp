#pragma once

#include <string_view>

#include "math/matrix.hpp"

namespace headcount {

enum class Activation {
  relu,       // max(0, x)
  gelu,       // x Φ(x), exact (Hendrycks & Gimpel 2016)
  gelu_tanh,  // its tanh approximation, as in GPT-2
};

std::string_view name_of(Activation activation);
Activation parse_activation(std::string_view name);  // throws Error (bad_data)

// y = activation(x), same shapes.
template <class Real>
void activate(Activation activation, ConstMatrixRef<Real> x, MatrixRef<Real> y);

// d becomes d ∘ activation'(x).
template <class Real>
void activate_backward(Activation activation, ConstMatrixRef<Real> x, MatrixRef<Real> d);

}  // namespace headcount
