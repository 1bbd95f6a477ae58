#include "math/norm.hpp"

#include "base/enumeration.hpp"

namespace headcount {
namespace {
constexpr auto kKinds = enumeration<NormKind>("kind of norm", "layer", "rms");
}

std::string_view name_of(NormKind kind) { return kKinds.name(kind); }
NormKind parse_norm_kind(std::string_view text) { return kKinds.parse(text); }
std::vector<std::string> norm_kind_names() { return kKinds.names(); }

template <class Real>
void normalize(NormKind kind, ConstMatrixRef<Real> x, ConstMatrixRef<Real> gain,
               ConstMatrixRef<Real> bias, MatrixRef<Real> normalized,
               MatrixRef<Real> inverse_deviation, MatrixRef<Real> y) {
  kernels<Real>().normalize(kind, const_rows_of<Real>(x), gain.data(), bias.data(),
                            static_cast<Real>(kNormEpsilon), rows_of<Real>(normalized),
                            inverse_deviation.data(), rows_of<Real>(y));
}

template <class Real>
void normalize_backward(NormKind kind, ConstMatrixRef<Real> d_y, ConstMatrixRef<Real> gain,
                        ConstMatrixRef<Real> normalized, ConstMatrixRef<Real> inverse_deviation,
                        MatrixRef<Real> d_x, MatrixRef<Real>* d_gain, MatrixRef<Real>* d_bias) {
  kernels<Real>().normalize_backward(kind, const_rows_of<Real>(d_y), gain.data(),
                                     const_rows_of<Real>(normalized), inverse_deviation.data(),
                                     rows_of<Real>(d_x), d_gain ? d_gain->data() : nullptr,
                                     d_bias ? d_bias->data() : nullptr);
}

#define HEADCOUNT_INSTANTIATE(Real)                                                            \
  template void normalize<Real>(NormKind, ConstMatrixRef<Real>, ConstMatrixRef<Real>,          \
                                ConstMatrixRef<Real>, MatrixRef<Real>, MatrixRef<Real>,        \
                                MatrixRef<Real>);                                              \
  template void normalize_backward<Real>(NormKind, ConstMatrixRef<Real>, ConstMatrixRef<Real>, \
                                         ConstMatrixRef<Real>, ConstMatrixRef<Real>,           \
                                         MatrixRef<Real>, MatrixRef<Real>*, MatrixRef<Real>*);
HEADCOUNT_INSTANTIATE(float)
HEADCOUNT_INSTANTIATE(double)
#undef HEADCOUNT_INSTANTIATE

}  // namespace headcount
