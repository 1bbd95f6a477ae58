#include "model/feed_forward.hpp"

#include "math/product.hpp"

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
void FeedForward<Real>::forward(const Parameters<Real>& parameters, ConstMatrixRef<Real> x,
                                Cache& cache, MatrixRef<Real> out) const {
  auto hidden = cache.hidden.resize(x.rows(), w_1_.cols);
  product<Real>(x, parameters.view(w_1_), hidden);
  add_to_rows<Real>(parameters.view(b_1_), hidden);
  auto activated = cache.activated.resize(x.rows(), w_1_.cols);
  activate<Real>(activation_, hidden, activated);
  product<Real>(activated, parameters.view(w_2_), out);
  add_to_rows<Real>(parameters.view(b_2_), out);
}

template <class Real>
void FeedForward<Real>::backward(const Parameters<Real>& parameters, ConstMatrixRef<Real> x,
                                 Cache& cache, Scratch& scratch, ConstMatrixRef<Real> d_out,
                                 MatrixRef<Real> d_x, Parameters<Real>* gradient) const {
  auto d_hidden = scratch.d_hidden.resize(x.rows(), w_1_.cols);
  product_bt<Real>(d_out, parameters.view(w_2_), d_hidden);
  activate_backward<Real>(activation_, cache.hidden.view(), d_hidden);
  product_bt<Real>(d_hidden, parameters.view(w_1_), d_x);
  if (!gradient) return;
  product_at<Real>(cache.activated.view(), d_out, gradient->view(w_2_), Accumulate::yes);
  add_column_sums<Real>(d_out, gradient->view(b_2_));
  product_at<Real>(x, d_hidden, gradient->view(w_1_), Accumulate::yes);
  add_column_sums<Real>(d_hidden, gradient->view(b_1_));
}

template class FeedForward<float>;
template class FeedForward<double>;

}  // namespace headcount
