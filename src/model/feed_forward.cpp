#include "model/feed_forward.hpp"

namespace headcount {

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
                                MatrixRef<Real> out) const {
  auto activated = cache.activated.resize(x.rows(), w_1_.cols);
  product<Real>(cache.x.of(precision, x), cache.w_1.of(precision, parameters.view(w_1_)),
                activated);
  if (backward_follows) {
    MatrixRef<Real> slope = cache.slope.resize(x.rows(), w_1_.cols);
    activate<Real>(activation_, parameters.view(b_1_), activated, &slope);
  } else {
    activate<Real>(activation_, parameters.view(b_1_), activated, nullptr);
  }
  product<Real>(cache.hidden.of(precision, activated),
                cache.w_2.of(precision, parameters.view(w_2_)), out);
  add_to_rows<Real>(parameters.view(b_2_), out);
}

template <class Real>
void FeedForward<Real>::backward(const Parameters<Real>& parameters, Precision precision,
                                 ConstMatrixRef<Real> x, Cache& cache, Scratch& scratch,
                                 ConstMatrixRef<Real> d_out, MatrixRef<Real> d_x,
                                 Parameters<Real>* gradient) const {
  const auto from_out = scratch.d_out.of(precision, d_out);
  auto d_hidden = scratch.d_hidden.resize(x.rows(), w_1_.cols);
  product_bt<Real>(from_out, cache.w_2.again(parameters.view(w_2_)), d_hidden);
  if (gradient) {
    MatrixRef<Real> d_b_1 = gradient->view(b_1_);
    activate_backward<Real>(cache.slope.view(), d_hidden, &d_b_1);
  } else {
    activate_backward<Real>(cache.slope.view(), d_hidden, nullptr);
  }
  const auto from_hidden = scratch.d_activated.of(precision, d_hidden);
  product_bt<Real>(from_hidden, cache.w_1.again(parameters.view(w_1_)), d_x);
  if (!gradient) return;
  product_at<Real>(cache.hidden.again(cache.activated.view()), from_out, gradient->view(w_2_),
                   Accumulate::yes);
  add_column_sums<Real>(d_out, gradient->view(b_2_));
  product_at<Real>(cache.x.again(x), from_hidden, gradient->view(w_1_), Accumulate::yes);
}

template class FeedForward<float>;
template class FeedForward<double>;

}  // namespace headcount
