#include "math/layer_norm.hpp"

namespace headcount {

template <class Real>
void layer_norm(ConstMatrixRef<Real> x, ConstMatrixRef<Real> gain, ConstMatrixRef<Real> bias,
                MatrixRef<Real> normalized, MatrixRef<Real> inverse_deviation, MatrixRef<Real> y) {
  kernels<Real>().layer_norm(const_rows_of<Real>(x), gain.data(), bias.data(),
                             static_cast<Real>(kLayerNormEpsilon), rows_of<Real>(normalized),
                             inverse_deviation.data(), rows_of<Real>(y));
}

template <class Real>
void layer_norm_backward(ConstMatrixRef<Real> d_y, ConstMatrixRef<Real> gain,
                         ConstMatrixRef<Real> normalized, ConstMatrixRef<Real> inverse_deviation,
                         MatrixRef<Real> d_x, MatrixRef<Real>* d_gain, MatrixRef<Real>* d_bias) {
  kernels<Real>().layer_norm_backward(const_rows_of<Real>(d_y), gain.data(),
                                      const_rows_of<Real>(normalized), inverse_deviation.data(),
                                      rows_of<Real>(d_x), d_gain ? d_gain->data() : nullptr,
                                      d_bias ? d_bias->data() : nullptr);
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
