#include "attention/reference.hpp"

#include <cmath>

namespace headcount {

template <class Real>
PlainAttention<Real> plain_attention(const Matrix<Real>& queries, const Matrix<Real>& keys,
                                     const Matrix<Real>& values, const Matrix<Real>& added,
                                     AttentionMask mask) {
  const Index tq = queries.rows(), tk = keys.rows(), width = queries.cols();
  PlainAttention<Real> result{Matrix<Real>::Zero(tq, tk), Matrix<Real>::Zero(tq, values.cols())};
  for (Index i = 0; i < tq; ++i) {
    const Index visible = visible_keys(mask, i, tq, tk);
    Real total = 0;
    for (Index j = 0; j < visible; ++j) {
      Real score = 0;
      for (Index k = 0; k < width; ++k) score += queries(i, k) * keys(j, k);
      score /= std::sqrt(static_cast<Real>(width));
      if (added.size() > 0) score += added(i, j);
      result.pattern(i, j) = std::exp(score);
      total += result.pattern(i, j);
    }
    for (Index j = 0; j < visible; ++j) {
      result.pattern(i, j) /= total;
      for (Index k = 0; k < values.cols(); ++k)
        result.context(i, k) += result.pattern(i, j) * values(j, k);
    }
  }
  return result;
}

template PlainAttention<float> plain_attention(const Matrix<float>&, const Matrix<float>&,
                                               const Matrix<float>&, const Matrix<float>&,
                                               AttentionMask);
template PlainAttention<double> plain_attention(const Matrix<double>&, const Matrix<double>&,
                                                const Matrix<double>&, const Matrix<double>&,
                                                AttentionMask);

}  // namespace headcount
