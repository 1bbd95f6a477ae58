#include "math/layer_norm.hpp"

#include <cmath>

#include "math/reduce.hpp"

namespace headcount {

template <class Real>
void layer_norm(ConstMatrixRef<Real> x, ConstMatrixRef<Real> gain, ConstMatrixRef<Real> bias,
                MatrixRef<Real> normalized, MatrixRef<Real> inverse_deviation, MatrixRef<Real> y) {
  const Index width = x.cols();
  const Real n = static_cast<Real>(width);
  for (Index i = 0; i < x.rows(); ++i) {
    const Real* row = x.row(i).data();
    const Real mean = sum(row, width) / n;
    const Real variance =
        lane_sum<Real>(width, [=](Index j) { return (row[j] - mean) * (row[j] - mean); }) / n;
    const Real scale = 1 / std::sqrt(variance + static_cast<Real>(kLayerNormEpsilon));
    inverse_deviation(i, 0) = scale;
    normalized.row(i) = ((x.row(i).array() - mean) * scale).matrix();
    y.row(i) = (normalized.row(i).array() * gain.row(0).array() + bias.row(0).array()).matrix();
  }
}

// With ŷ = d_y ∘ gain:  d_x = (ŷ - mean(ŷ) - normalized · mean(ŷ ∘ normalized)) / √(var + ε).
template <class Real>
void layer_norm_backward(ConstMatrixRef<Real> d_y, ConstMatrixRef<Real> gain,
                         ConstMatrixRef<Real> normalized, ConstMatrixRef<Real> inverse_deviation,
                         MatrixRef<Real> d_x, MatrixRef<Real>* d_gain, MatrixRef<Real>* d_bias) {
  const Index width = d_y.cols();
  const Real n = static_cast<Real>(width);
  const Real* g = gain.data();
  for (Index i = 0; i < d_y.rows(); ++i) {
    const Real* dy = d_y.row(i).data();
    const Real* z = normalized.row(i).data();
    const Real mean = lane_sum<Real>(width, [=](Index j) { return dy[j] * g[j]; }) / n;
    const Real slope = lane_sum<Real>(width, [=](Index j) { return dy[j] * g[j] * z[j]; }) / n;
    d_x.row(i).array() +=
        ((d_y.row(i).array() * gain.row(0).array() - mean) - normalized.row(i).array() * slope) *
        inverse_deviation(i, 0);
    if (d_gain) d_gain->row(0).array() += d_y.row(i).array() * normalized.row(i).array();
    if (d_bias) d_bias->row(0) += d_y.row(i);
  }
}

#define HEADCOUNT_INSTANTIATE(Real)                                                                \
  template void layer_norm<Real>(ConstMatrixRef<Real>, ConstMatrixRef<Real>, ConstMatrixRef<Real>, \
                                 MatrixRef<Real>, MatrixRef<Real>, MatrixRef<Real>);               \
  template void layer_norm_backward<Real>(ConstMatrixRef<Real>, ConstMatrixRef<Real>,              \
                                          ConstMatrixRef<Real>, ConstMatrixRef<Real>,              \
                                          MatrixRef<Real>, MatrixRef<Real>*, MatrixRef<Real>*);
HEADCOUNT_INSTANTIATE(float)
HEADCOUNT_INSTANTIATE(double)
#undef HEADCOUNT_INSTANTIATE

}  // namespace headcount
