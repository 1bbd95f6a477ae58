#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "attention/average.hpp"
#include "attention/hooks.hpp"
#include "attention/observer.hpp"
#include "attention/projections.hpp"
#include "attention/scores/score_function.hpp"
#include "attention/treatment.hpp"
#include "math/dropout.hpp"
#include "math/parameters.hpp"
#include "math/product.hpp"

namespace headcount {

// How a forward pass is to be done; the same object goes to the backward pass.
template <class Real>
struct AttentionPass {
  const HeadTreatment<Real>* treatment = nullptr;
  Dropout pattern_dropout;                   // on the patterns
  Index first_row = 0;                       // of this shard within its batch, for dropout
  HeadObserver<Real>* observer = nullptr;    // may be null
  Precision precision = Precision::float32;  // of the large products
  bool backward_follows = true;
  bool gate_gradients = false;  // keep the contexts of heads whose gate is 0
  // Whether backward() goes on to its input; where nothing lies below, a pass without parameter
  // gradients can end at the gates.
  bool input_gradient = true;
};

// Multi-head attention (Vaswani et al. 2017, section 3.2) over packed sequences:
//
//   A_h = softmax(score(Q_h, K_h) + M),  Z_h = A_h V_h,  output = Σ_h ξ_h Z_h W_O^h + b_O,
//
// to which average attention may be added (merged attention; Zhang, Titov & Sennrich 2019). A
// position encoding may act on Q and K, on what goes into the softmax, and on Z (hooks.hpp).
// Patterns live for one head and sequence at a time and are computed again in the backward pass.
template <class Real>
class MultiHeadAttention {
 public:
  // What a forward pass leaves for the backward pass.
  struct Cache {
    typename Projections<Real>::Cache projections;
    typename AverageAttention<Real>::Cache average;
    Buffer<Real> log_sum;  // [Nq, H] ln Σ exp(score)
    Buffer<Real> context;  // [Nq, H·K] Z
    Buffer<Real> gated;    // [Nq, H·K] ξ Z, only when some ξ is not 1
    bool all_gates_one = true;
    Rounding<Real> x, mixed;
  };
  // Memory that may be shared between sublayers.
  struct Scratch {
    Buffer<Real> pattern, d_pattern, d_context;
    Buffer<Real> work;   // of the products of one head
    Buffer<Real> hooks;  // of the hooks
    Rounding<Real> from_out;
    typename Projections<Real>::Scratch projections;
    typename AverageAttention<Real>::Scratch average;
  };

  // Adds to the layout the parameters of Projections and of the score function (PREFIX.score [H,
  // K], if any), PREFIX.w_o [H·K, D] and b_o [1, D], and those of AverageAttention
  // (PREFIX.average). `hooks` may be null and must outlive this.
  MultiHeadAttention(AttentionConfig config, const std::string& prefix, ParameterLayout& layout,
                     const AttentionHooks<Real>* hooks);

  const AttentionConfig& config() const { return projections_.config(); }

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

  Index heads() const { return static_cast<Index>(config().heads.size()); }
  Index width() const { return config().head_width; }
  HeadId id(Index slot) const {
    return {config().site, config().layer, config().heads[static_cast<std::size_t>(slot)]};
  }
  Index slot_of(int head) const;  // throws for a head that is not present
  Head head_views(const AttentionInput<Real>& input, Cache& cache, Index sequence,
                  Index slot) const;
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
                       HeadVectorGradients<Real>& gradients, Parameters<Real>* gradient) const;

  Projections<Real> projections_;
  const AttentionHooks<Real>* hooks_;
  std::unique_ptr<ScoreFunction<Real>> score_;
  std::uint32_t dropout_place_;
  ParameterBlock output_weights_, output_bias_;
  std::optional<AverageAttention<Real>> average_;
};

}  // namespace headcount
