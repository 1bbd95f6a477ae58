#pragma once

#include <string>
#include <vector>

#include "attention/config.hpp"
#include "attention/hooks.hpp"
#include "attention/input.hpp"
#include "math/parameters.hpp"
#include "math/product.hpp"

namespace headcount {

// Of one head and sequence, as attention uses them.
template <class Real>
struct HeadVectors {
  ConstMatrixView<Real> queries, keys, values;  // [Tq, K], [Tk, K], [Tk, K]
};

template <class Real>
struct HeadVectorGradients {
  MatrixView<Real> queries, keys, values;
  void set_zero() { queries.setZero(), keys.setZero(), values.setZero(); }
};

// Where the queries, keys and values of a layer's heads come from, and where their gradients go.
// All vectors of the queries' input stand side by side as columns of one matrix, and so do those of
// the memory; heads read them as strided views. For self-attention both are one matrix. Vectors
// that are shared (Sharing, AttentionConfig::group) are there once.
template <class Real>
class Projections {
 public:
  // What a forward pass leaves for the backward pass.
  struct Cache {
    Buffer<Real> query_side, memory_side;  // [Nq, ·], [Nk, ·]; the latter for cross-attention
    // [Nq, H·K], [Nk, H·K] queries and keys as a position encoding turned them, where they are
    // values or inputs too, which it leaves alone
    Buffer<Real> turned_queries, turned_keys;
    Rounding<Real> memory;
  };
  struct Scratch {
    Buffer<Real> d_query_side, d_memory_side, one_head;
    Rounding<Real> from_queries, from_memory;
  };
  // Gradients of the two matrices.
  struct Sides {
    MatrixView<Real> queries, memory;
  };

  // Adds PREFIX.w_q, w_k, w_v [D, ·], b_q, b_k, b_v [1, ·], or w_qk, w_v, or w_qkv and their
  // biases. `hooks` may be null and must outlive this.
  Projections(AttentionConfig config, const std::string& prefix, ParameterLayout& layout,
              const AttentionHooks<Real>* hooks);

  const AttentionConfig& config() const { return config_; }

  // x is input.x as a factor.
  void forward(const Parameters<Real>& parameters, const AttentionInput<Real>& input,
               const Factor<Real>& x, Precision precision, Cache& cache) const;
  HeadVectors<Real> vectors(const AttentionInput<Real>& input, const Cache& cache, Index sequence,
                            Index slot) const;

  // Backward, in this order: start(); for every head and sequence, or some, gradients(), filled
  // with those of vectors(), and collect(); then finish(), which leaves d_x [Nq, D] set and
  // d_memory [Nk, ·] added to (for cross-attention), and adds to `gradient` unless null. Gradients
  // of heads that are not collected must be zero.
  Sides start(const AttentionInput<Real>& input, MatrixRef<Real> d_x, MatrixRef<Real> d_memory,
              Scratch& scratch) const;
  HeadVectorGradients<Real> gradients(const AttentionInput<Real>& input, Sides& sides,
                                      Index sequence, Index slot, Scratch& scratch) const;
  void collect(const AttentionInput<Real>& input, Index sequence, Index slot,
               HeadVectorGradients<Real>& gradients, Sides& sides) const;
  void finish(const Parameters<Real>& parameters, const AttentionInput<Real>& input,
              const Factor<Real>& x, Precision precision, const Cache& cache, const Sides& sides,
              Scratch& scratch, MatrixRef<Real> d_x, MatrixRef<Real> d_memory,
              Parameters<Real>* gradient) const;

  // Copies into `to` (the same sublayer with fewer heads) what its heads still use.
  void copy_heads(const Parameters<Real>& from_values, const Projections& to,
                  Parameters<Real>& to_values) const;

 private:
  struct Block {
    ParameterBlock weights, bias;
  };
  // Where the vectors of a head begin: queries on their side, keys and values on the memory's.
  struct Columns {
    Index queries, keys, values;
  };

  Index width() const { return config_.head_width; }
  Index heads() const { return static_cast<Index>(config_.heads.size()); }
  bool is_self() const { return config_.site != Site::cross; }
  bool are_inputs() const { return config_.sharing == Sharing::identity; }
  Columns columns(Index slot) const;
  Block add(const std::string& prefix, ParameterLayout& layout, Index input_width,
            const std::vector<ParameterLayout::Column>& columns) const;
  void turn(const AttentionInput<Real>& input, Cache& cache) const;

  AttentionConfig config_;
  const AttentionHooks<Real>* turning_;  // null unless it acts on vectors
  bool turns_copies_ = false;
  bool alone_ = true;                   // no vector is shared: each gradient has one source
  std::vector<int> key_value_heads_;    // ascending
  std::vector<Index> key_value_slots_;  // of each head present
  Block query_side_, memory_side_;      // self: all in query_side_
  std::vector<Block> per_head_, per_key_value_head_;  // the parts, by how many heads they have
};

}  // namespace headcount
