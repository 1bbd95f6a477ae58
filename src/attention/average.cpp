#include "attention/average.hpp"

namespace headcount {

template <class Real>
AverageAttention<Real>::AverageAttention(AttentionMask mask, Index width, int layer,
                                         const std::string& prefix, ParameterLayout& layout)
    : mask_(mask),
      value_weights_(layout.add(prefix + ".w_v", ParameterRole::value, layer, width, width)),
      output_weights_(
          layout.add(prefix + ".w_o", ParameterRole::attention_output, layer, width, width)) {}

// In place, from running sums: without a mask every token has the last one.
template <class Real>
void AverageAttention<Real>::average(Offsets offsets, MatrixRef<Real> values) const {
  for (Index b = 0; b < sequences_of(offsets); ++b) {
    const auto [first, count] = rows_of_sequence(offsets, b);
    auto rows = values.middleRows(first, count);
    for (Index i = 1; i < count; ++i) rows.row(i) += rows.row(i - 1);
    for (Index i = 0; i < count; ++i) {
      const Index visible = visible_keys(mask_, i, count, count);
      rows.row(i) = rows.row(visible - 1) / static_cast<Real>(visible);
    }
  }
}

// Token j is seen by every token from j on, without a mask by all.
template <class Real>
void AverageAttention<Real>::average_backward(Offsets offsets, MatrixRef<Real> d_averages) const {
  for (Index b = 0; b < sequences_of(offsets); ++b) {
    const auto [first, count] = rows_of_sequence(offsets, b);
    auto rows = d_averages.middleRows(first, count);
    for (Index i = 0; i < count; ++i)
      rows.row(i) /= static_cast<Real>(visible_keys(mask_, i, count, count));
    for (Index i = count - 2; i >= 0; --i) rows.row(i) += rows.row(i + 1);
    if (mask_ == AttentionMask::none)
      for (Index i = 1; i < count; ++i) rows.row(i) = rows.row(0);
  }
}

template <class Real>
void AverageAttention<Real>::forward(const Parameters<Real>& parameters, const Factor<Real>& x,
                                     Offsets offsets, Precision precision, Cache& cache,
                                     MatrixRef<Real> out) const {
  auto averages = cache.averages.resize(x.values.rows(), value_weights_.cols);
  product<Real>(x, parameters.factor(precision, value_weights_), averages);
  average(offsets, averages);
  product<Real>(cache.mixed.of(precision, averages), parameters.factor(precision, output_weights_),
                out, Accumulate::yes);
}

template <class Real>
void AverageAttention<Real>::backward(const Parameters<Real>& parameters, const Factor<Real>& x,
                                      Offsets offsets, Precision precision, const Cache& cache,
                                      Scratch& scratch, const Factor<Real>& d_out,
                                      MatrixRef<Real> d_x, Parameters<Real>* gradient) const {
  auto d_values = scratch.d_values.resize(x.values.rows(), value_weights_.cols);
  product_bt<Real>(d_out, parameters.factor(precision, output_weights_), d_values);
  average_backward(offsets, d_values);
  const auto from_values = scratch.from_values.of(precision, d_values);
  product_bt<Real>(from_values, parameters.factor(precision, value_weights_), d_x, Accumulate::yes);
  if (!gradient) return;
  product_at<Real>(cache.mixed.again(cache.averages.view()), d_out, gradient->view(output_weights_),
                   Accumulate::yes);
  product_at<Real>(x, from_values, gradient->view(value_weights_), Accumulate::yes);
}

template class AverageAttention<float>;
template class AverageAttention<double>;

}  // namespace headcount
