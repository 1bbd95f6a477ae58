#pragma once

#include <span>

#include "attention/sites.hpp"
#include "math/matrix.hpp"
#include "math/parameters.hpp"

namespace headcount {

// One head of one sequence: queries [Tq, K], keys [Tk, K]. Query i stands at position i, key j at
// position j.
template <class Real>
struct HeadSlice {
  HeadId id;
  ConstMatrixView<Real> queries;
  ConstMatrixView<Real> keys;
  Visible visible;  // the keys that each query sees
  Real scale = 1;   // what a product of query and key is multiplied by
};

// What a position encoding may do inside attention. Three places: on queries and keys (rotary), on
// scores before the softmax (relative positions, biases), and on contexts (relative positions of
// values). Each comes with its adjoint; d_ names gradients, which are added to. `work` is memory to
// work in, with nothing of worth in it.
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
  // scores [Tq, Tk] += what the encoding says, where visible; the rest is not defined.
  virtual void add_to_scores(const Parameters<Real>& parameters, const HeadSlice<Real>& slice,
                             MatrixRef<Real> scores, Buffer<Real>& work) const {
    static_cast<void>(parameters), static_cast<void>(slice), static_cast<void>(scores);
    static_cast<void>(work);
  }
  // `gradient` may be null.
  virtual void scores_backward(const Parameters<Real>& parameters, const HeadSlice<Real>& slice,
                               ConstMatrixRef<Real> d_scores, MatrixRef<Real> d_queries,
                               MatrixRef<Real> d_keys, Parameters<Real>* gradient,
                               Buffer<Real>& work) const {
    static_cast<void>(parameters), static_cast<void>(slice), static_cast<void>(d_scores);
    static_cast<void>(d_queries), static_cast<void>(d_keys), static_cast<void>(gradient);
    static_cast<void>(work);
  }

  virtual bool acts_on_contexts() const { return false; }
  // context [Tq, K] += what the encoding makes of pattern [Tq, Tk], linear in the pattern; a mask
  // that replaces the pattern or the whole context replaces this with it.
  virtual void add_to_context(const Parameters<Real>& parameters, const HeadSlice<Real>& slice,
                              ConstMatrixRef<Real> pattern, MatrixRef<Real> context,
                              Buffer<Real>& work) const {
    static_cast<void>(parameters), static_cast<void>(slice), static_cast<void>(pattern);
    static_cast<void>(context), static_cast<void>(work);
  }
  // Its adjoint in two parts: to the pattern, where visible, and to the parameters.
  virtual void context_to_pattern(const Parameters<Real>& parameters, const HeadSlice<Real>& slice,
                                  ConstMatrixRef<Real> d_context, MatrixRef<Real> d_pattern,
                                  Buffer<Real>& work) const {
    static_cast<void>(parameters), static_cast<void>(slice), static_cast<void>(d_context);
    static_cast<void>(d_pattern), static_cast<void>(work);
  }
  virtual void context_to_parameters(const HeadSlice<Real>& slice, ConstMatrixRef<Real> pattern,
                                     ConstMatrixRef<Real> d_context, Parameters<Real>& gradient,
                                     Buffer<Real>& work) const {
    static_cast<void>(slice), static_cast<void>(pattern), static_cast<void>(d_context);
    static_cast<void>(gradient), static_cast<void>(work);
  }
};

}  // namespace headcount
