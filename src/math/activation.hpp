#pragma once

#include <cstdint>
#include <string_view>

#include "math/matrix.hpp"

namespace headcount {

std::string_view name_of(Activation activation);
Activation parse_activation(std::string_view name);  // throws Error (bad_data)

// x [N, n] becomes activation(x + bias), bias [1, n] added to every row; slope [N, n], unless null,
// activation'(x + bias): all that a backward pass needs. Where `rounded` [N, n] is not null the
// values go there in bfloat16, and x stays.
template <class Real>
void activate(Activation activation, ConstMatrixRef<Real> bias, MatrixRef<Real> x,
              MatrixRef<Real>* slope, std::uint16_t* rounded = nullptr);

// d = d ∘ slope; bias gradient d_bias [1, n] += its column sums unless null; `rounded` as above.
template <class Real>
void activate_backward(ConstMatrixRef<Real> slope, MatrixRef<Real> d, MatrixRef<Real>* d_bias,
                       std::uint16_t* rounded = nullptr);

}  // namespace headcount
