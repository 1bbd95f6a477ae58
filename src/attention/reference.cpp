#include "attention/reference.hpp"

#include <cmath>

namespace headcount {
namespace {

template <class Real>
Real plain_score(std::string_view score, const RowVector<Real>& query, const RowVector<Real>& key,
                 const RowVector<Real>& weights) {
  Real sum = 0;
  for (Index k = 0; k < query.size(); ++k)
    sum += score == "additive" ? weights(k) * std::tanh(query(k) + key(k)) : query(k) * key(k);
  return score == "scaled-dot" ? sum / std::sqrt(static_cast<Real>(query.size())) : sum;
}

}  // namespace

template <class Real>
PlainAttention<Real> plain_attention(const Matrix<Real>& queries, const Matrix<Real>& keys,
                                     const Matrix<Real>& values, const Matrix<Real>& added,
                                     AttentionMask mask, std::string_view score,
                                     const RowVector<Real>& weights) {
  const Index tq = queries.rows(), tk = keys.rows();
  PlainAttention<Real> result{Matrix<Real>::Zero(tq, tk), Matrix<Real>::Zero(tq, values.cols())};
  for (Index i = 0; i < tq; ++i) {
    const Index visible = visible_keys(mask, i, tq, tk);
    Real total = 0;
    for (Index j = 0; j < visible; ++j) {
      Real exponent = plain_score<Real>(score, queries.row(i), keys.row(j), weights);
      if (added.size() > 0) exponent += added(i, j);
      result.pattern(i, j) = std::exp(exponent);
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
                                               AttentionMask, std::string_view,
                                               const RowVector<float>&);
template PlainAttention<double> plain_attention(const Matrix<double>&, const Matrix<double>&,
                                                const Matrix<double>&, const Matrix<double>&,
                                                AttentionMask, std::string_view,
                                                const RowVector<double>&);

}  // namespace headcount
