#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "math/matrix.hpp"

namespace headcount {

inline constexpr double kNormEpsilon = 1e-5;

std::string_view name_of(NormKind kind);
NormKind parse_norm_kind(std::string_view text);  // throws Error (bad_data)
std::vector<std::string> norm_kind_names();

// Normalization, row by row:
//   layer (Ba, Kiros & Hinton 2016)
//     normalized = (x - mean(x)) / √(var(x) + ε),   y = gain ∘ normalized + bias
//   rms (Zhang & Sennrich 2019, Root mean square layer normalization)
//     normalized = x / √(mean(x²) + ε),             y = gain ∘ normalized
// x, normalized, y [N, D]; inverse_deviation [N, 1] is what x was multiplied by; gain, bias [1, D],
// the bias empty with rms. y may be x.
template <class Real>
void normalize(NormKind kind, ConstMatrixRef<Real> x, ConstMatrixRef<Real> gain,
               ConstMatrixRef<Real> bias, MatrixRef<Real> normalized,
               MatrixRef<Real> inverse_deviation, MatrixRef<Real> y);

// d_x [N, D] += ∂loss/∂x; d_gain and d_bias [1, D] are added to unless null. d_y is read only.
template <class Real>
void normalize_backward(NormKind kind, ConstMatrixRef<Real> d_y, ConstMatrixRef<Real> gain,
                        ConstMatrixRef<Real> normalized, ConstMatrixRef<Real> inverse_deviation,
                        MatrixRef<Real> d_x, MatrixRef<Real>* d_gain, MatrixRef<Real>* d_bias);

}  // namespace headcount
