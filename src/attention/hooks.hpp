#pragma once

#include <span>

#include "attention/sites.hpp"
#include "math/matrix.hpp"
#include "math/parameters.hpp"

namespace headcount {

// One head of one sequence: queries [Tq, K], keys [Tk, K].
template <class Real>
struct HeadSlice {
  HeadId id;
  ConstMatrixView<Real> queries;
  ConstMatrixView<Real> keys;
};

// What a position encoding may do inside attention. Two places: on queries and keys (rotary), and
// on scores before the softmax (relative positions, biases). Each comes with its adjoint; d_ names
// gradients, which are added to.
template <class Real>
class AttentionHooks {
 public:
  virtual ~AttentionHooks() = default;

  virtual bool acts_on_vectors() const { return false; }
  // vectors [T, K]: the queries or the keys of one head and sequence, in place; row i stands at
  // position i.
  virtual void transform(MatrixRef<Real> vectors) const { static_cast<void>(vectors); }
  // d_vectors becomes the gradient with respect to what transform() was given.
  virtual void transform_backward(MatrixRef<Real> d_vectors) const { static_cast<void>(d_vectors); }

  virtual bool acts_on_scores() const { return false; }
  // scores [Tq, Tk] += what the encoding says; after 1/√K.
  virtual void add_to_scores(const Parameters<Real>& parameters, const HeadSlice<Real>& slice,
                             MatrixRef<Real> scores) const {
    static_cast<void>(parameters), static_cast<void>(slice), static_cast<void>(scores);
  }
  // d_scores is zero where a key is not visible. `gradient` may be null.
  virtual void scores_backward(const Parameters<Real>& parameters, const HeadSlice<Real>& slice,
                               ConstMatrixRef<Real> d_scores, MatrixRef<Real> d_queries,
                               MatrixRef<Real> d_keys, Parameters<Real>* gradient) const {
    static_cast<void>(parameters), static_cast<void>(slice), static_cast<void>(d_scores);
    static_cast<void>(d_queries), static_cast<void>(d_keys), static_cast<void>(gradient);
  }
};

}  // namespace headcount
