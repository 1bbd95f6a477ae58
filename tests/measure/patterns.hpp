// Patterns made by hand, as measures see them.
#pragma once

#include <string>

#include "measure/measure.hpp"

namespace headcount {

// What a pattern measure says of one pattern.
template <class Real = double>
RatioTerm term(const std::string& measure, const Matrix<Real>& pattern, AttentionMask mask) {
  const ConstMatrixView<Real> view(pattern.data(), pattern.rows(), pattern.cols(),
                                   Eigen::OuterStride<>(pattern.cols()));
  const Matrix<Real> context(pattern.rows(), 1);
  const HeadObservation<Real> seen{
      {}, 0, mask, view, {context.data(), context.rows(), 1, Eigen::OuterStride<>(1)}};
  const auto& entry = measures().at(measure);
  if constexpr (std::is_same_v<Real, float>)
    return entry.pattern_float(seen);
  else
    return entry.pattern_double(seen);
}

// Its mean over the rows that count.
template <class Real = double>
double mean_of(const std::string& measure, const Matrix<Real>& pattern, AttentionMask mask) {
  const auto found = term<Real>(measure, pattern, mask);
  return found.sum / found.weight;
}

// 1/n over the n keys that each row sees.
inline Matrix<double> uniform_pattern(Index queries, Index keys, AttentionMask mask) {
  Matrix<double> pattern = Matrix<double>::Zero(queries, keys);
  for (Index i = 0; i < queries; ++i) {
    const Index visible = visible_keys(mask, i, queries, keys);
    pattern.row(i).head(visible).setConstant(1 / static_cast<double>(visible));
  }
  return pattern;
}

}  // namespace headcount
