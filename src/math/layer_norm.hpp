#pragma once

#include "math/matrix.hpp"

namespace headcount {

inline constexpr double kLayerNormEpsilon = 1e-5;

// Layer normalization (Ba, Kiros & Hinton 2016), row by row:
//   normalized = (x - mean(x)) / √(var(x) + ε),   y = gain ∘ normalized + bias.
// x, normalized, y [N, D]; inverse_deviation [N, 1]; gain, bias [1, D]. y may be x.
template <class Real>
void layer_norm(ConstMatrixRef<Real> x, ConstMatrixRef<Real> gain, ConstMatrixRef<Real> bias,
                MatrixRef<Real> normalized, MatrixRef<Real> inverse_deviation, MatrixRef<Real> y);

// d_x [N, D] += ∂loss/∂x; d_gain and d_bias [1, D] are added to unless null. d_y is read only.
template <class Real>
void layer_norm_backward(ConstMatrixRef<Real> d_y, ConstMatrixRef<Real> gain,
                         ConstMatrixRef<Real> normalized, ConstMatrixRef<Real> inverse_deviation,
                         MatrixRef<Real> d_x, MatrixRef<Real>* d_gain, MatrixRef<Real>* d_bias);

}  // namespace headcount
