#pragma once

#include <string>

#include "attention/input.hpp"
#include "attention/mask.hpp"
#include "math/parameters.hpp"
#include "math/product.hpp"

namespace headcount {

// The average-attention sublayer without its gate and feed-forward (Zhang, Titov & Sennrich 2019,
// "SAAN"), which merged attention sums with another attention:
//
//   out_i += (1/n_i Σ_{j visible to i} x_j W_V) W_O,
//
// n_i tokens being visible to token i: under a causal mask a cumulative average. It has no queries,
// no keys and no gate: it is no head.
template <class Real>
class AverageAttention {
 public:
  // What a forward pass leaves for the backward pass.
  struct Cache {
    Buffer<Real> averages;  // [N, D] of the values
    Rounding<Real> mixed;
  };
  struct Scratch {
    Buffer<Real> d_values;  // [N, D]
    Rounding<Real> from_values;
  };

  // Adds PREFIX.w_v, w_o [D, D].
  AverageAttention(AttentionMask mask, Index width, int layer, const std::string& prefix,
                   ParameterLayout& layout);

  // out [N, D] += what it says of x [N, D].
  void forward(const Parameters<Real>& parameters, const Factor<Real>& x, Offsets offsets,
               Precision precision, Cache& cache, MatrixRef<Real> out) const;

  // From d_out [N, D]: d_x += ..., and adds to `gradient` unless null.
  void backward(const Parameters<Real>& parameters, const Factor<Real>& x, Offsets offsets,
                Precision precision, const Cache& cache, Scratch& scratch,
                const Factor<Real>& d_out, MatrixRef<Real> d_x, Parameters<Real>* gradient) const;

 private:
  void average(Offsets offsets, MatrixRef<Real> values) const;
  void average_backward(Offsets offsets, MatrixRef<Real> d_averages) const;

  AttentionMask mask_;
  ParameterBlock value_weights_, output_weights_;
};

}  // namespace headcount
