#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attention/hooks.hpp"
#include "attention/mask.hpp"
#include "attention/observer.hpp"
#include "attention/treatment.hpp"
#include "math/dropout.hpp"
#include "math/parameters.hpp"
#include "math/product.hpp"

namespace headcount {

struct AttentionConfig {
  Site site = Site::decoder_self;
  int layer = 0;
  Index width = 0;  // D of the queries' input and of the output
  Index memory_width =
      0;                 // D of the keys' and values' input; the same as `width` for self-attention
  Index head_width = 0;  // K
  std::vector<int> heads;  // original indices of the heads that are present, ascending
  AttentionMask mask = AttentionMask::none;
};

// The offsets of packed sequences: sequence b is rows offsets[b] .. offsets[b + 1).
using Offsets = std::span<const std::int64_t>;

// One attention sublayer's input. For self-attention `memory` is `x` and the offsets are the same.
template <class Real>
struct AttentionInput {
  ConstMatrixView<Real> x;       // [Nq, D]
  ConstMatrixView<Real> memory;  // [Nk, D of the memory]
  Offsets query_offsets;
  Offsets key_offsets;
};

// How a forward pass is to be done; the same object goes to the backward pass.
template <class Real>
struct AttentionPass {
  const HeadTreatment<Real>* treatment = nullptr;
  Dropout pattern_dropout;                   // on the patterns
  Index first_row = 0;                       // of this shard within its batch, for dropout
  HeadObserver<Real>* observer = nullptr;    // may be null
  Precision precision = Precision::float32;  // of the large products
  bool gate_gradients = false;               // keep the contexts of heads whose gate is 0
  // Whether backward() goes on to its input; where nothing lies below, a pass without parameter
  // gradients can end at the gates.
  bool input_gradient = true;
};

// Multi-head attention (Vaswani et al. 2017, section 3.2) over packed sequences:
//
//   A_h = softmax(Q_h K_hᵀ / √K + M),  Z_h = A_h V_h,  output = Σ_h ξ_h Z_h W_O^h + b_O.
//
// A position encoding may act on Q and K, on what goes into the softmax, and on Z (hooks.hpp).
//
// Heads stand side by side as columns of one projection and are read as strided views; patterns
// live for one head and sequence at a time and are computed again in the backward pass.
template <class Real>
class MultiHeadAttention {
 public:
  // What a forward pass leaves for the backward pass.
  struct Cache {
    Buffer<Real> query_side;   // self: [N, 3·H·K] queries, keys, values; else queries [Nq, H·K]
    Buffer<Real> memory_side;  // else: keys, values [Nk, 2·H·K]
    Buffer<Real> log_sum;      // [Nq, H] ln Σ exp(score)
    Buffer<Real> context;      // [Nq, H·K] Z
    Buffer<Real> gated;        // [Nq, H·K] ξ Z, only when some ξ is not 1
    bool all_gates_one = true;
    Rounding<Real> x, memory, mixed, query_weights, memory_weights, output_weights;
  };
  // Memory that may be shared between sublayers.
  struct Scratch {
    Buffer<Real> pattern, d_pattern, d_context, d_query_side, d_memory_side;
    Buffer<Real> work;   // of the products of one head
    Buffer<Real> hooks;  // of the hooks
    Rounding<Real> from_out, from_queries, from_keys;
  };

  // Adds parameters PREFIX.w_q, w_k, w_v [D, H·K], b_q, b_k, b_v [1, H·K], w_o [H·K, D], b_o [1, D]
  // to the layout. `hooks` may be null and must outlive this.
  MultiHeadAttention(AttentionConfig config, const std::string& prefix, ParameterLayout& layout,
                     const AttentionHooks<Real>* hooks);

  const AttentionConfig& config() const { return config_; }

  // out [Nq, D].
  void forward(const Parameters<Real>& parameters, const AttentionInput<Real>& input,
               const AttentionPass<Real>& pass, Cache& cache, Scratch& scratch,
               MatrixRef<Real> out) const;

  // From d_out [Nq, D]: sets d_x [Nq, D], unless neither it nor `gradient` is wanted; for
  // cross-attention adds to d_memory [Nk, ·] (unused, may
  // be empty, for self-attention, where d_x has both parts). Adds to `gradient` unless null. With
  // pass.gate_gradients sets gate_gradients(b, i) = ∂loss/∂ξ of head i of this layer (original
  // index) in sequence b; columns of removed heads stay.
  void backward(const Parameters<Real>& parameters, const AttentionInput<Real>& input,
                const AttentionPass<Real>& pass, Cache& cache, Scratch& scratch,
                ConstMatrixRef<Real> d_out, MatrixRef<Real> d_x, MatrixRef<Real> d_memory,
                Parameters<Real>* gradient, MatrixRef<Real> gate_gradients) const;

  // Copies into `to` (the same sublayer with fewer heads) the parameters of the heads it still has,
  // and b_O.
  void copy_heads(const Parameters<Real>& from_values, const MultiHeadAttention& to,
                  Parameters<Real>& to_values) const;

  // b_O += ξ · mean · W_O^h: what a head replaced by its mean context [1, K] adds to every token.
  void fold_into_bias(Parameters<Real>& parameters, int head, Real gate,
                      const RowVector<Real>& mean) const;

  // What one head put into the output of the forward pass that left `cache`: share = ξ Z_h W_O^h
  // [Nq, D].
  void head_share(const Parameters<Real>& parameters, const Cache& cache, int head,
                  MatrixRef<Real> share) const;

  // ⟨W_O^h, G^h⟩ with G a gradient in the same layout: equals ∂loss/∂ξ_h at ξ = 1 (Michel et al.
  // 2019).
  double output_inner_product(const Parameters<Real>& parameters, const Parameters<Real>& gradient,
                              int head) const;

 private:
  struct Head;  // views of one head and sequence

  Index heads() const { return static_cast<Index>(config_.heads.size()); }
  bool is_self() const { return config_.site != Site::cross; }
  HeadId id(Index slot) const {
    return {config_.site, config_.layer, config_.heads[static_cast<std::size_t>(slot)]};
  }
  Index slot_of(int head) const;  // throws for a head that is not present
  Head head_views(const AttentionInput<Real>& input, Cache& cache, Index sequence,
                  Index slot) const;
  void project(const Parameters<Real>& parameters, const AttentionInput<Real>& input,
               const AttentionPass<Real>& pass, Cache& cache) const;
  void transform_vectors(const AttentionInput<Real>& input, Cache& cache) const;
  HeadSlice<Real> slice_of(const Head& head) const;
  void fill_scores(const Parameters<Real>& parameters, const Head& head, Scratch& scratch,
                   MatrixRef<Real> scores) const;
  Real* work(const Head& head, Scratch& scratch) const;
  void fill_uniform(MatrixRef<Real> pattern) const;
  DropoutSource pattern_dropout(const AttentionPass<Real>& pass, const Head& head) const;
  void attend(const Parameters<Real>& parameters, const AttentionPass<Real>& pass, const Head& head,
              Index sequence, Cache& cache, Scratch& scratch) const;
  void attend_backward(const Parameters<Real>& parameters, const AttentionPass<Real>& pass,
                       const Head& head, Scratch& scratch, ConstMatrixRef<Real> d_context,
                       MatrixRef<Real> d_queries, MatrixRef<Real> d_keys, MatrixRef<Real> d_values,
                       Parameters<Real>* gradient) const;

  AttentionConfig config_;
  const AttentionHooks<Real>* hooks_;
  Real scale_;  // 1/√K
  std::uint32_t dropout_place_;
  ParameterBlock query_weights_, query_bias_;    // self: the side-by-side block of W_Q, W_K, W_V
  ParameterBlock memory_weights_, memory_bias_;  // cross: of W_K, W_V
  ParameterBlock output_weights_, output_bias_;
};

}  // namespace headcount
