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
                                ConstMatrixRef<Real> x, Cache& cache, MatrixRef<Real> out) const {
  auto activated = cache.activated.resize(x.rows(), w_1_.cols);
  product<Real>(x, parameters.view(w_1_), activated, precision);
  MatrixRef<Real> slope = cache.slope.resize(x.rows(), w_1_.cols);
  activate<Real>(activation_, parameters.view(b_1_), activated, &slope);
  product<Real>(activated, parameters.view(w_2_), out, precision);
  add_to_rows<Real>(parameters.view(b_2_), out);
}

template <class Real>
void FeedForward<Real>::backward(const Parameters<Real>& parameters, Precision precision,
                                 ConstMatrixRef<Real> x, Cache& cache, Scratch& scratch,
                                 ConstMatrixRef<Real> d_out, MatrixRef<Real> d_x,
                                 Parameters<Real>* gradient) const {
  auto d_hidden = scratch.d_hidden.resize(x.rows(), w_1_.cols);
  product_bt<Real>(d_out, parameters.view(w_2_), d_hidden, precision);
  if (!gradient) {
    activate_backward<Real>(cache.slope.view(), d_hidden, nullptr);
    product_bt<Real>(d_hidden, parameters.view(w_1_), d_x, precision);
    return;
  }
  MatrixRef<Real> d_b_1 = gradient->view(b_1_);
  activate_backward<Real>(cache.slope.view(), d_hidden, &d_b_1);
  product_bt<Real>(d_hidden, parameters.view(w_1_), d_x, precision);
  product_at<Real>(cache.activated.view(), d_out, gradient->view(w_2_), precision, Accumulate::yes);
  add_column_sums<Real>(d_out, gradient->view(b_2_));
  product_at<Real>(x, d_hidden, gradient->view(w_1_), precision, Accumulate::yes);
}

template class FeedForward<float>;
template class FeedForward<double>;

}  // namespace headcount
