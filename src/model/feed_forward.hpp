#pragma once

#include <string>

#include "math/activation.hpp"
#include "math/parameters.hpp"
#include "math/product.hpp"

namespace headcount {

// Position-wise feed-forward (Vaswani et al. 2017, section 3.3): activation(x W_1 + b_1) W_2 + b_2.
template <class Real>
class FeedForward {
 public:
  struct Cache {
    Buffer<Real> slope;      // [N, F] activation'(x W_1 + b_1)
    Buffer<Real> activated;  // [N, F] activation(x W_1 + b_1), in float32
    Rounding<Real> x, hidden;
  };
  struct Scratch {
    Buffer<Real> hidden;  // [N, F] or fewer rows at a time
    Rounding<Real> d_out, d_activated;
  };

  // Adds PREFIX.w_1 [D, F], b_1, w_2 [F, D], b_2.
  FeedForward(Index width, Index inner, Activation activation, int layer, const std::string& prefix,
              ParameterLayout& layout);

  // x, out [N, D]
  void forward(const Parameters<Real>& parameters, Precision precision, bool backward_follows,
               ConstMatrixRef<Real> x, Cache& cache, Scratch& scratch, MatrixRef<Real> out) const;

  // Sets d_x [N, D]; adds to `gradient` unless null.
  void backward(const Parameters<Real>& parameters, Precision precision, ConstMatrixRef<Real> x,
                Cache& cache, Scratch& scratch, ConstMatrixRef<Real> d_out, MatrixRef<Real> d_x,
                Parameters<Real>* gradient) const;

 private:
  Activation activation_;
  ParameterBlock w_1_, b_1_, w_2_, b_2_;
};

}  // namespace headcount
