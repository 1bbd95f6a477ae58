#pragma once

#include <optional>

#include "attention/multi_head.hpp"
#include "model/feed_forward.hpp"
#include "model/sublayer.hpp"

namespace headcount {

struct BlockConfig {
  AttentionConfig attention;
  Index feed_forward = 0;  // F; 0: the sublayer is absent, with its norm and residual
  NormPlacement norm = NormPlacement::pre;
  NormKind norm_kind = NormKind::layer;
  Residual residual = Residual::plain;
  Activation activation = Activation::gelu;
};

// One layer of a stack: self-attention, then feed-forward, each with residual, norm and dropout.
template <class Real>
class Block {
 public:
  struct Cache {
    typename ResidualSublayer<Real>::Cache around_attention, around_feed_forward;
    typename MultiHeadAttention<Real>::Cache attention;
    typename FeedForward<Real>::Cache feed_forward;
  };
  struct Scratch {
    typename ResidualSublayer<Real>::Scratch around;
    typename MultiHeadAttention<Real>::Scratch attention;
    typename FeedForward<Real>::Scratch feed_forward;
  };

  // Parameters PREFIX.self.*, PREFIX.norm_1.*, PREFIX.residual_1.*, PREFIX.feed_forward.*,
  // PREFIX.norm_2.*, PREFIX.residual_2.*, those that the configuration has.
  Block(const BlockConfig& config, const std::string& prefix, ParameterLayout& layout,
        const AttentionHooks<Real>* hooks);

  const MultiHeadAttention<Real>& attention() const { return attention_; }
  bool has_feed_forward() const { return feed_forward_.has_value(); }

  // stream [N, D] in place. `dropout` acts on what the sublayers add to it.
  void forward(const Parameters<Real>& parameters, Offsets offsets, const AttentionPass<Real>& pass,
               const Dropout& dropout, Cache& cache, Scratch& scratch,
               MatrixRef<Real> stream) const;

  // The halves of forward(); without a feed-forward sublayer the second does nothing.
  void attend(const Parameters<Real>& parameters, Offsets offsets, const AttentionPass<Real>& pass,
              const Dropout& dropout, Cache& cache, Scratch& scratch, MatrixRef<Real> stream) const;
  void feed_forward(const Parameters<Real>& parameters, const AttentionPass<Real>& pass,
                    const Dropout& dropout, Cache& cache, Scratch& scratch,
                    MatrixRef<Real> stream) const;

  // What the sublayers gave in the attend() or feed_forward() that left these last, before it was
  // added.
  ConstMatrixView<Real> attended(const Cache& cache, const Scratch& scratch) const {
    return around_attention_.given(cache.around_attention, scratch.around);
  }
  ConstMatrixView<Real> fed_forward(const Cache& cache, const Scratch& scratch) const {
    return around_feed_forward_->given(cache.around_feed_forward, scratch.around);
  }

  // What attend() would make of `entering` [N, D] with the gate of each of these heads at 0, one
  // after the other: streams [heads · N, D]. Uses what an attend() of it without dropout has just
  // left in `intact` and `intact_scratch`: no head attends again.
  void attend_without_each(const Parameters<Real>& parameters, std::span<const HeadId> heads,
                           ConstMatrixRef<Real> entering, const Cache& intact,
                           const Scratch& intact_scratch, Cache& cache, Scratch& scratch,
                           MatrixRef<Real> streams) const;

  // d_stream [N, D] in place; adds to `gradient` unless null; gate_gradients [B, H of this layer].
  void backward(const Parameters<Real>& parameters, Offsets offsets,
                const AttentionPass<Real>& pass, const Dropout& dropout, Cache& cache,
                Scratch& scratch, MatrixRef<Real> d_stream, Parameters<Real>* gradient,
                MatrixRef<Real> gate_gradients) const;

 private:
  ResidualSublayer<Real> around_attention_;
  MultiHeadAttention<Real> attention_;
  std::optional<ResidualSublayer<Real>> around_feed_forward_;
  std::optional<FeedForward<Real>> feed_forward_;
};

// Tells the places of dropout in a model apart (Dropout::apply). 24 bits.
enum class DropoutPlace : std::uint32_t {
  pattern = 0,
  attention = 1,
  feed_forward = 2,
  embedding = 3
};
inline std::uint32_t dropout_place(Site site, int layer, DropoutPlace place) {
  return static_cast<std::uint32_t>(site) << 16 | static_cast<std::uint32_t>(layer) << 4 |
         static_cast<std::uint32_t>(place);
}

}  // namespace headcount
