// One attention sublayer with random parameters and inputs, and what a test does with it.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>

#include "attention/multi_head.hpp"
#include "attention/reference.hpp"
#include "support/matrices.hpp"

namespace headcount::test {

// A position encoding that does everything one may do: its transform is no rotation (the adjoint is
// not the inverse) and depends on the position; its scores depend on queries, keys, parameters and
// the head, and it adds to contexts what depends on the offset and the head.
template <class Real>
class EverythingEncoding : public AttentionHooks<Real> {
 public:
  static constexpr Index kReach = 2;

  EverythingEncoding(Index head_width, ParameterLayout& layout)
      : table_(layout.add("double.table", ParameterRole::position_embedding, -1, 2 * kReach + 1,
                          head_width)),
        key_weights_(layout.add("double.key", ParameterRole::bias, -1, 1, head_width)),
        values_(layout.add("double.values", ParameterRole::position_embedding, -1, 2 * kReach + 1,
                           head_width)) {}

  bool acts_on_vectors() const override { return true; }
  // v[k] ← v[k] + c(i) v[k + 1], cyclic.
  void transform(MatrixRef<Real> v) const override {
    for (Index i = 0; i < v.rows(); ++i) {
      const RowVector<Real> old = v.row(i);
      for (Index k = 0; k < v.cols(); ++k) v(i, k) += slope(i) * old((k + 1) % v.cols());
    }
  }
  void transform_backward(MatrixRef<Real> d) const override {
    for (Index i = 0; i < d.rows(); ++i) {
      const RowVector<Real> old = d.row(i);
      for (Index k = 0; k < d.cols(); ++k) d(i, (k + 1) % d.cols()) += slope(i) * old(k);
    }
  }

  bool acts_on_scores() const override { return true; }
  // scores[i, j] += f(head) scale (q_i · table[j - i, clipped] + key_weights · k_j)
  void add_to_scores(const Parameters<Real>& parameters, const HeadSlice<Real>& slice,
                     MatrixRef<Real> scores, Buffer<Real>&) const override {
    const auto table = parameters.view(table_), key_weights = parameters.view(key_weights_);
    each_visible(slice, [&](Index i, Index j) {
      scores(i, j) += factor(slice) * slice.scale *
                      (slice.queries.row(i).cwiseProduct(table.row(place(i, j))).sum() +
                       slice.keys.row(j).cwiseProduct(key_weights.row(0)).sum());
    });
  }
  void scores_backward(const Parameters<Real>& parameters, const HeadSlice<Real>& slice,
                       ConstMatrixRef<Real> d_scores, MatrixRef<Real> d_queries,
                       MatrixRef<Real> d_keys, Parameters<Real>* gradient,
                       Buffer<Real>&) const override {
    const auto table = parameters.view(table_), key_weights = parameters.view(key_weights_);
    each_visible(slice, [&](Index i, Index j) {
      const Real d = factor(slice) * slice.scale * d_scores(i, j);
      d_queries.row(i) += d * table.row(place(i, j));
      d_keys.row(j) += d * key_weights.row(0);
      if (!gradient) return;
      gradient->view(table_).row(place(i, j)) += d * slice.queries.row(i);
      gradient->view(key_weights_).row(0) += d * slice.keys.row(j);
    });
  }

  bool acts_on_contexts() const override { return true; }
  // context[i] += f(head) Σ_j pattern[i, j] values[j - i, clipped]
  void add_to_context(const Parameters<Real>& parameters, const HeadSlice<Real>& slice,
                      ConstMatrixRef<Real> pattern, MatrixRef<Real> context,
                      Buffer<Real>&) const override {
    const auto values = parameters.view(values_);
    each_visible(slice, [&](Index i, Index j) {
      context.row(i) += factor(slice) * pattern(i, j) * values.row(place(i, j));
    });
  }
  void context_to_pattern(const Parameters<Real>& parameters, const HeadSlice<Real>& slice,
                          ConstMatrixRef<Real> d_context, MatrixRef<Real> d_pattern,
                          Buffer<Real>&) const override {
    const auto values = parameters.view(values_);
    each_visible(slice, [&](Index i, Index j) {
      d_pattern(i, j) +=
          factor(slice) * d_context.row(i).cwiseProduct(values.row(place(i, j))).sum();
    });
  }
  void context_to_parameters(const HeadSlice<Real>& slice, ConstMatrixRef<Real> pattern,
                             ConstMatrixRef<Real> d_context, Parameters<Real>& gradient,
                             Buffer<Real>&) const override {
    each_visible(slice, [&](Index i, Index j) {
      gradient.view(values_).row(place(i, j)) += factor(slice) * pattern(i, j) * d_context.row(i);
    });
  }

 private:
  static Real slope(Index i) { return static_cast<Real>(0.1 * static_cast<double>(i % 5 + 1)); }
  static Real factor(const HeadSlice<Real>& slice) {
    return static_cast<Real>(1 + 0.1 * slice.id.head);
  }
  static Index place(Index i, Index j) { return std::clamp(j - i, -kReach, kReach) + kReach; }
  template <class F>
  static void each_visible(const HeadSlice<Real>& slice, const F& f) {
    for (Index i = 0; i < slice.queries.rows(); ++i)
      for (Index j = 0; j < slice.visible.keys_of(i); ++j) f(i, j);
  }

  ParameterBlock table_, key_weights_, values_;
};

struct LayerShape {
  Site site = Site::decoder_self;
  AttentionMask mask = AttentionMask::causal;
  bool encoding = true;                      // with EverythingEncoding
  std::vector<int> heads = {0, 2, 3, 5, 6};  // of the seven of layer 1
  std::vector<Index> queries = {4, 1, 6};    // tokens of each sequence
  std::vector<Index> keys = {3, 5, 2};       // for cross-attention
  Index head_width = 3;
  std::string score = "scaled-dot";
  Sharing sharing = Sharing::none;
  int group = 1;
  std::optional<AttentionMask> average = std::nullopt;

  bool is_self() const { return site != Site::cross; }
};

inline std::vector<std::int64_t> offsets_of(const std::vector<Index>& lengths) {
  std::vector<std::int64_t> offsets{0};
  for (const Index length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

template <class Real>
struct Layer {
  static constexpr Index kWidth = 7;
  static constexpr int kLayer = 1, kHeads = 7;

  LayerShape shape;
  ParameterLayout layout;
  std::optional<EverythingEncoding<Real>> encoding;
  MultiHeadAttention<Real> attention;
  Parameters<Real> parameters;
  std::vector<std::int64_t> query_offsets, key_offsets;
  Matrix<Real> x, memory;
  HeadTreatment<Real> treatment;
  AttentionPass<Real> pass;
  typename MultiHeadAttention<Real>::Cache cache;
  typename MultiHeadAttention<Real>::Scratch scratch;

  explicit Layer(LayerShape s = {})
      : shape(std::move(s)),
        encoding(shape.encoding ? std::optional<EverythingEncoding<Real>>(std::in_place,
                                                                          shape.head_width, layout)
                                : std::nullopt),
        attention({shape.site, kLayer, kWidth, memory_width(), shape.head_width, shape.heads,
                   shape.mask, shape.score, shape.sharing, shape.group, shape.average},
                  "layer", layout, encoding ? &*encoding : nullptr),
        parameters(layout),
        query_offsets(offsets_of(shape.queries)),
        key_offsets(is_self() ? query_offsets : offsets_of(shape.keys)),
        x(random_matrix<Real>(query_offsets.back(), kWidth, 1)),
        memory(is_self() ? Matrix<Real>()
                         : random_matrix<Real>(key_offsets.back(), memory_width(), 2)),
        treatment(HeadTreatment<Real>::intact(HeadCounts(shape.site, {2, kHeads}))) {
    std::uint32_t seed = 100;
    for (const auto& entry : layout.entries())
      parameters.view(entry.block) =
          random_matrix<Real>(entry.block.rows, entry.block.cols, seed++, 0.5);
    pass.treatment = &treatment;
  }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  bool is_self() const { return shape.is_self(); }
  // Projections that are shared take both inputs.
  Index memory_width() const {
    return is_self() || shape.sharing != Sharing::none ? kWidth : Index{5};
  }
  HeadId id(int head) const { return {shape.site, kLayer, head}; }
  Index sequences() const { return static_cast<Index>(shape.queries.size()); }

  AttentionInput<Real> input() const {
    const auto& m = is_self() ? x : memory;
    return {{x.data(), x.rows(), x.cols(), Eigen::OuterStride<>(x.cols())},
            {m.data(), m.rows(), m.cols(), Eigen::OuterStride<>(m.cols())},
            query_offsets,
            key_offsets};
  }

  Matrix<Real> forward() {
    Matrix<Real> out = Matrix<Real>::Constant(x.rows(), kWidth, Real{77});
    parameters.round(pass.precision);
    attention.forward(parameters, input(), pass, cache, scratch, out);
    return out;
  }

  struct Gradients {
    Matrix<Real> x, memory, gates;  // gates [B, H]
    Parameters<Real> parameters;
  };
  // After forward().
  Gradients backward(const Matrix<Real>& d_out, bool with_parameters = true) {
    Gradients g{Matrix<Real>::Constant(x.rows(), x.cols(), Real{77}),
                Matrix<Real>::Zero(memory.rows(), memory.cols()),
                Matrix<Real>::Zero(sequences(), kHeads), Parameters<Real>(layout)};
    attention.backward(parameters, input(), pass, cache, scratch, d_out, g.x, g.memory,
                       with_parameters ? &g.parameters : nullptr, g.gates);
    return g;
  }

  // One of everything, in turn: heads as they are, gated, off, replaced by a mean, uniform and
  // negative.
  void treat_heads_differently() {
    const RowVector<Real> mean = random_matrix<Real>(1, shape.head_width, 9);
    for (std::size_t slot = 0; slot < shape.heads.size(); ++slot) {
      const HeadId head = id(shape.heads[slot]);
      if (slot % 5 == 1) treatment.gate.at(head) = static_cast<Real>(0.6);
      if (slot % 5 == 2) treatment.mask(head, MaskKind::zero);
      if (slot % 5 == 3) {
        treatment.mask(head, MaskKind::mean, &mean);
        treatment.gate.at(head) = static_cast<Real>(1.3);
      }
      if (slot % 5 == 4) {
        treatment.mask(head, MaskKind::uniform);
        treatment.gate.at(head) = static_cast<Real>(-0.5);
      }
    }
  }
};

// What every present head did, by original index and sequence, before its gate.
template <class Real>
struct Recorder : HeadObserver<Real> {
  struct Seen {
    Matrix<Real> pattern, context;
    AttentionMask mask;
  };
  std::map<std::pair<HeadId, Index>, Seen> seen;
  int calls = 0;
  void observe(const HeadObservation<Real>& o) override {
    seen[{o.id, o.sequence}] = {o.pattern, o.context, o.mask};
    ++calls;
  }
};

// The same sublayer by the slow formulas, without dropout; contexts by head and sequence as the
// treatment makes them.
template <class Real>
struct PlainLayer {
  Matrix<Real> out;
  std::map<std::pair<int, Index>, PlainAttention<Real>> heads;
};

// Queries, keys and values of the head at `slot`, before positions.
template <class Real>
std::array<Matrix<Real>, 3> plain_vectors(const Layer<Real>& layer, std::size_t slot,
                                          const Matrix<Real>& x, const Matrix<Real>& memory) {
  const auto& p = layer.parameters;
  const auto& shape = layer.shape;
  const Index width = shape.head_width, own = static_cast<Index>(slot) * width;
  const auto project = [&](const Matrix<Real>& tokens, const std::string& name, Index column) {
    Matrix<Real> y = tokens * p.view("layer.w_" + name).middleCols(column, width);
    y.rowwise() += RowVector<Real>(p.view("layer.b_" + name).middleCols(column, width));
    return y;
  };
  switch (shape.sharing) {
    case Sharing::qk:
      return {project(x, "qk", own), project(memory, "qk", own), project(memory, "v", own)};
    case Sharing::qkv:
      return {project(x, "qkv", own), project(memory, "qkv", own), project(memory, "qkv", own)};
    case Sharing::identity: {
      const Index column = shape.heads[slot] * width;
      const Matrix<Real> keys = memory.middleCols(column, width);
      return {x.middleCols(column, width), keys, keys};
    }
    case Sharing::none:
      break;
  }
  std::vector<int> groups;
  for (std::size_t i = 0; i <= slot; ++i)
    if (const int group = shape.heads[i] / shape.group; groups.empty() || groups.back() != group)
      groups.push_back(group);
  const Index shared = (std::ssize(groups) - 1) * width;
  return {project(x, "q", own), project(memory, "k", shared), project(memory, "v", shared)};
}

template <class Real>
PlainLayer<Real> plain_layer(const Layer<Real>& layer) {
  using Context = typename HeadTreatment<Real>::Context;
  const Index width = layer.shape.head_width;
  const auto& p = layer.parameters;
  const Matrix<Real>& memory = layer.is_self() ? layer.x : layer.memory;
  PlainLayer<Real> result{Matrix<Real>::Zero(layer.x.rows(), layer.kWidth), {}};
  for (Index i = 0; i < result.out.rows(); ++i) result.out.row(i) = p.view("layer.b_o");
  for (Index b = 0; b < layer.sequences(); ++b) {
    const auto at = static_cast<std::size_t>(b);
    const Index q0 = layer.query_offsets[at], tq = layer.query_offsets[at + 1] - q0;
    const Index k0 = layer.key_offsets[at], tk = layer.key_offsets[at + 1] - k0;
    for (std::size_t slot = 0; slot < layer.shape.heads.size(); ++slot) {
      const int head = layer.shape.heads[slot];
      const HeadId id = layer.id(head);
      auto [q, k, v] =
          plain_vectors<Real>(layer, slot, layer.x.middleRows(q0, tq), memory.middleRows(k0, tk));
      Matrix<Real> added = Matrix<Real>::Zero(tq, tk);
      const bool causal = layer.shape.mask == AttentionMask::causal;
      const HeadSlice<Real> slice{
          id,
          {q.data(), tq, width, Eigen::OuterStride<>(width)},
          {k.data(), tk, width, Eigen::OuterStride<>(width)},
          causal ? Visible::up_to_itself(tq, tk) : Visible::all(tk),
          layer.shape.score == "dot" ? Real{1} : 1 / std::sqrt(static_cast<Real>(width))};
      Buffer<Real> work;
      if (layer.encoding) {
        layer.encoding->transform(q);
        layer.encoding->transform(k);
        layer.encoding->add_to_scores(p, slice, added, work);
      }
      RowVector<Real> weights;
      if (layer.shape.score == "additive")
        weights = p.view("layer.score").row(static_cast<Index>(slot));
      const Context kind = layer.treatment.context.at(id);
      if (kind == Context::uniform) q.setZero(), k.setZero(), added.setZero();
      auto plain =
          plain_attention<Real>(q, k, v, added, layer.shape.mask, layer.shape.score, weights);
      if (layer.encoding)
        layer.encoding->add_to_context(p, slice, plain.pattern, plain.context, work);
      if (kind == Context::mean) plain.context.rowwise() = layer.treatment.mean.at(id);
      result.out.middleRows(q0, tq) +=
          layer.treatment.gate.at(id) * plain.context *
          p.view("layer.w_o").middleRows(static_cast<Index>(slot) * width, width);
      result.heads[{head, b}] = plain;
    }
    if (!layer.shape.average) continue;
    const Matrix<Real> values = layer.x.middleRows(q0, tq) * p.view("layer.average.w_v");
    for (Index i = 0; i < tq; ++i) {
      const Index visible = visible_keys(*layer.shape.average, i, tq, tq);
      result.out.row(q0 + i) +=
          values.topRows(visible).colwise().mean() * p.view("layer.average.w_o");
    }
  }
  return result;
}

}  // namespace headcount::test
