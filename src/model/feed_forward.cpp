#include "model/feed_forward.hpp"

#include <algorithm>
#include <utility>

namespace headcount {
namespace {

// Rows of F numbers that are made and used at once where they need not be kept: what fits into the
// second cache.
Index rows_at_once(Index inner) {
  constexpr Index kNumbers = 1 << 19, kTile = 64;
  return std::max(kNumbers / inner / kTile, Index{1}) * kTile;
}

// f(first row, rows) over all rows; in pieces where they are rounded, since then what lies between
// two products is used at once and need not be kept in float32.
template <class F>
void each_rows(bool in_pieces, Index rows, Index inner, const F& f) {
  const Index most = in_pieces ? rows_at_once(inner) : rows;
  for (Index first = 0; first < rows; first += most) f(first, std::min(most, rows - first));
}

}  // namespace

template <class Real>
FeedForward<Real>::FeedForward(Index width, Index inner, Activation activation, int layer,
                               const std::string& prefix, ParameterLayout& layout)
    : activation_(activation),
      w_1_(layout.add(prefix + ".w_1", ParameterRole::feed_forward_in, layer, width, inner)),
      b_1_(layout.add(prefix + ".b_1", ParameterRole::bias, layer, 1, inner)),
      w_2_(layout.add(prefix + ".w_2", ParameterRole::feed_forward_out, layer, inner, width)),
      b_2_(layout.add(prefix + ".b_2", ParameterRole::bias, layer, 1, width)) {}

template <class Real>
void FeedForward<Real>::forward(const Parameters<Real>& parameters, Precision precision,
                                bool backward_follows, ConstMatrixRef<Real> x, Cache& cache,
                                Scratch& scratch, MatrixRef<Real> out) const {
  const Index tokens = x.rows(), inner = w_1_.cols;
  const bool rounds = is_rounded<Real>(precision);
  cache.x.of(precision, x);
  cache.hidden.start(precision, tokens, inner);
  if (backward_follows) cache.slope.resize(tokens, inner);
  each_rows(rounds, tokens, inner, [&](Index first, Index count) {
    auto hidden = (rounds ? scratch.hidden : cache.activated).resize(count, inner);
    product<Real>(cache.x.again(x.middleRows(first, count), first),
                  parameters.factor(precision, w_1_), hidden);
    if (backward_follows) {
      MatrixRef<Real> slope = cache.slope.view().middleRows(first, count);
      activate<Real>(activation_, parameters.view(b_1_), hidden, &slope, cache.hidden.row(first));
    } else {
      activate<Real>(activation_, parameters.view(b_1_), hidden, nullptr, cache.hidden.row(first));
    }
    product<Real>(cache.hidden.again(hidden, first), parameters.factor(precision, w_2_),
                  out.middleRows(first, count));
  });
  add_to_rows<Real>(parameters.view(b_2_), out);
}

template <class Real>
void FeedForward<Real>::backward(const Parameters<Real>& parameters, Precision precision,
                                 ConstMatrixRef<Real> x, Cache& cache, Scratch& scratch,
                                 ConstMatrixRef<Real> d_out, MatrixRef<Real> d_x,
                                 Parameters<Real>* gradient) const {
  const Index tokens = x.rows(), inner = w_1_.cols;
  const bool rounds = is_rounded<Real>(precision);
  const auto from_out = scratch.d_out.of(precision, d_out);
  scratch.d_activated.start(precision, tokens, inner);
  const auto slope = std::as_const(cache.slope).view();
  each_rows(rounds, tokens, inner, [&](Index first, Index count) {
    auto d_hidden = scratch.hidden.resize(count, inner);
    product_bt<Real>(scratch.d_out.again(d_out.middleRows(first, count), first),
                     parameters.factor(precision, w_2_), d_hidden);
    auto* rounded = scratch.d_activated.row(first);
    if (gradient) {
      MatrixRef<Real> d_b_1 = gradient->view(b_1_);
      activate_backward<Real>(slope.middleRows(first, count), d_hidden, &d_b_1, rounded);
    } else {
      activate_backward<Real>(slope.middleRows(first, count), d_hidden, nullptr, rounded);
    }
    product_bt<Real>(scratch.d_activated.again(d_hidden, first), parameters.factor(precision, w_1_),
                     d_x.middleRows(first, count));
  });
  if (!gradient) return;
  // Of rounded factors only the shape is looked at, which is the slope's.
  const auto hidden = cache.hidden.again(rounds ? slope : std::as_const(cache.activated).view());
  const auto d_hidden =
      scratch.d_activated.again(rounds ? slope : std::as_const(scratch.hidden).view());
  product_at<Real>(hidden, from_out, gradient->view(w_2_), Accumulate::yes);
  add_column_sums<Real>(d_out, gradient->view(b_2_));
  product_at<Real>(cache.x.again(x), d_hidden, gradient->view(w_1_), Accumulate::yes);
}

template class FeedForward<float>;
template class FeedForward<double>;

}  // namespace headcount
