#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/block.hpp"
#include "model/initialization/scheme.hpp"
#include "model/per_layer.hpp"
#include "model/positions/position_encoding.hpp"

namespace headcount {

struct ModelConfig {
  Site site = Site::decoder_self;  // encoder_self for a bidirectional stack
  AttentionMask mask = AttentionMask::causal;
  Index vocabulary = 0;                     // V
  Index longest = 0;                        // tokens a sequence may have
  Index width = 0;                          // D
  std::vector<Index> head_widths;           // K, per layer
  PerLayer<Index> feed_forward = Index{0};  // F; 0: a layer without the sublayer
  std::vector<std::vector<int>> heads;      // per layer, the original indices of the heads present
  HeadCounts original;                      // what the model was built with, before any removal
  std::string score = "scaled-dot";
  Sharing sharing = Sharing::none;
  int key_value_heads = 0;  // of every layer that has heads; 0: one for each head
  bool average = false;     // average attention is added in every layer
  PerLayer<NormPlacement> norm = NormPlacement::pre;
  NormKind norm_kind = NormKind::layer;
  PerLayer<Residual> residual = Residual::plain;
  Activation activation = Activation::gelu;
  std::string positions = "sinusoidal";
  Index relative_distance = 16;  // of relative positions, the largest that is told apart
  double dropout = 0;            // on embeddings and on what sublayers add to the stream
  double pattern_dropout = 0;    // on attention patterns
  bool tied_output = true;       // logits = hidden · Eᵀ; not looked at with classes
  // 0: logits over the vocabulary at every token. Else a classifier: what the last layer gives is
  // averaged over each sequence's tokens and mapped to one logit per class by weights of its own.
  Index classes = 0;
  bool scale_embedding = true;  // token embeddings times √D, as in Vaswani et al. 2017, section 3.4

  // Heads of every layer, all present, and their width, one for all or one per layer.
  void set_heads(const std::vector<int>& heads_per_layer, std::vector<Index> widths);
  int layers() const { return static_cast<int>(heads.size()); }
  AttentionConfig attention(int layer) const;
  // Whether a norm follows the last layer: where that layer is pre-norm, whatever those below are.
  bool final_norm() const { return norm.at(heads.size() - 1) == NormPlacement::pre; }
};

// What a model's position encoding is made from.
PositionConfig position_config(const ModelConfig& config);

// Tokens of packed sequences: sequence b is tokens[offsets[b] .. offsets[b + 1]).
struct PackedTokens {
  std::span<const std::int32_t> tokens;  // [N]
  Offsets offsets;                       // [B + 1]
};

// How a pass over one shard is done; the backward pass gets the same object.
template <class Real>
struct ModelPass {
  const HeadTreatment<Real>* treatment = nullptr;
  bool training = false;           // dropout acts
  std::uint64_t dropout_seed = 0;  // with step: which entries fall
  std::uint32_t step = 0;
  Index first_row = 0;  // of this shard within its batch
  HeadObserver<Real>* observer = nullptr;
  Precision precision = Precision::float32;  // of the large products; parameters rounded for it
  bool backward_follows = true;              // else forward() leaves nothing for it: less memory
  bool gate_gradients = false;               // backward() fills workspace.gate_gradients
  bool activation_variance = false;          // forward() fills workspace.activation_variance
};

// All memory of one pass over one shard. May be used again for the next; grows to the largest.
template <class Real>
struct ModelWorkspace {
  Buffer<Real> stream, hidden,
      logits;  // [N, D], [N, D] the last layer, normed, [N, V] or [B, classes]
  Buffer<Real> d_stream, d_hidden;
  Buffer<Real> pooled, d_pooled;  // [B, D], of a classifier
  Buffer<Real>
      gate_gradients;  // [B, all heads] ∂loss/∂ξ per sequence, in the order of HeadCounts::all()
  std::vector<double> activation_variance;  // per layer, of the residual stream after it
  // Per layer; one for all, where no backward pass follows.
  std::vector<typename Block<Real>::Cache> blocks;
  typename Block<Real>::Scratch scratch;
  typename Norm<Real>::Cache final_norm;
  Rounding<Real> to_output, from_logits;  // factors of the output's products
};

// What Model::forward_without_each() needs besides.
template <class Real>
struct AblationWorkspace {
  ModelWorkspace<Real> without;       // of several packed copies of the sequences
  Buffer<Real> entering;              // [N, D] the stream before a layer
  std::vector<std::int64_t> offsets;  // of those copies
};

// A Transformer stack over tokens: embedding, positions, blocks, output over the vocabulary or over
// classes.
// Immutable; parameters and workspaces are passed in, so threads may share it.
template <class Real>
class Model {
 public:
  explicit Model(ModelConfig config);  // throws Error (bad_data) on an impossible configuration
  Model(Model&&) noexcept = default;
  Model& operator=(Model&&) noexcept = default;

  const ModelConfig& config() const { return config_; }
  const HeadCounts& heads() const { return config_.original; }  // with removed ones
  bool is_present(const HeadId& id) const;
  std::vector<HeadId> present_heads() const;
  const ParameterLayout& layout() const { return *layout_; }

  // `sample` is what a scheme that profiles the model looks at; others ignore it. Throws Error
  // (bad_data) for a scheme that is made for other models.
  Parameters<Real> initial_parameters(std::string_view scheme, std::uint64_t seed,
                                      PackedTokens sample = {}) const;

  // Fills workspace.logits, [N, V] or [B, classes]. The treatment must be made for heads(); one
  // that asks something of a head that was removed is an error: nothing would consume it.
  void forward(const Parameters<Real>& parameters, PackedTokens input, const ModelPass<Real>& pass,
               ModelWorkspace<Real>& workspace) const;

  // forward(), and the same with the gate of each of `heads` (present, ascending) at 0, one at a
  // time. What lies below a head's layer, and the layer's attention, is computed once for all. Told
  // of runs of heads of one layer, with their logits one after the other [heads · N, V] or [heads ·
  // B, classes]; so many heads run together that their tokens are at most `most_tokens`, but one at
  // least. The pass must be one of evaluation, without an observer or a backward pass.
  using Told = std::function<void(std::span<const HeadId> heads, MatrixRef<Real> logits)>;
  void forward_without_each(const Parameters<Real>& parameters, PackedTokens input,
                            const ModelPass<Real>& pass, std::span<const HeadId> heads,
                            Index most_tokens, ModelWorkspace<Real>& workspace,
                            AblationWorkspace<Real>& ablation, const Told& told) const;

  // From d_logits, shaped as the logits (may be workspace.logits). Adds to `gradient` unless null.
  void backward(const Parameters<Real>& parameters, PackedTokens input, const ModelPass<Real>& pass,
                ConstMatrixRef<Real> d_logits, ModelWorkspace<Real>& workspace,
                Parameters<Real>* gradient) const;

  // The physically smaller model: columns of W_Q, W_K, W_V and rows of W_O of these heads are gone;
  // b_O stays. Throws for a head that is not present. Original indices are kept.
  Model without(const std::vector<HeadId>& removed) const;
  // The parameters of `smaller`, made by without(), taken from those of this model.
  Parameters<Real> shrink(const Parameters<Real>& parameters, const Model& smaller) const;

  const MultiHeadAttention<Real>& attention(Site site, int layer) const;

 private:
  // Variances of what enters the first layer and of what each sublayer then gives, all heads at
  // work.
  std::vector<double> profile(const Parameters<Real>& parameters, PackedTokens input) const;
  void check(const HeadTreatment<Real>& treatment) const;
  AttentionPass<Real> attention_pass(const ModelPass<Real>& pass) const;
  Dropout dropout(const ModelPass<Real>& pass, double rate) const;
  void embed(const Parameters<Real>& parameters, PackedTokens input, MatrixRef<Real> stream) const;
  void output(const Parameters<Real>& parameters, const Offsets& offsets, Precision precision,
              ModelWorkspace<Real>& workspace) const;
  void output_backward(const Parameters<Real>& parameters, const Offsets& offsets,
                       Precision precision, ConstMatrixRef<Real> d_logits,
                       ModelWorkspace<Real>& workspace, Parameters<Real>* gradient) const;
  // The parts of forward(): workspace.stream is what enters the first layer; goes through the
  // layers from `first_layer` on; and becomes logits.
  void enter(const Parameters<Real>& parameters, PackedTokens input, const ModelPass<Real>& pass,
             ModelWorkspace<Real>& workspace) const;
  void climb(const Parameters<Real>& parameters, Offsets offsets, const ModelPass<Real>& pass,
             std::size_t first_layer, ModelWorkspace<Real>& workspace) const;
  static auto& cache_of(const ModelPass<Real>& pass, std::size_t layer,
                        ModelWorkspace<Real>& workspace) {
    return workspace.blocks[pass.backward_follows ? layer : 0];
  }
  void leave(const Parameters<Real>& parameters, Offsets offsets, Precision precision,
             ModelWorkspace<Real>& workspace) const;

  ModelConfig config_;
  std::unique_ptr<ParameterLayout> layout_;
  ParameterBlock embedding_, output_, output_bias_;  // the bias with classes only
  std::unique_ptr<PositionEncoding<Real>> positions_;
  std::vector<Block<Real>> blocks_;
  std::optional<Norm<Real>>
      final_norm_;  // where the last layer is pre-norm: nothing else ends its stream
};

}  // namespace headcount
