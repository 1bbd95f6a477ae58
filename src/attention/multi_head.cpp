#include "attention/multi_head.hpp"

#include <algorithm>
#include <cmath>

#include "math/reduce.hpp"

namespace headcount {
namespace {

template <class View>
auto cut(View& matrix, Index first_row, Index rows, Index first_column, Index columns) {
  using Real = typename View::Scalar;
  return MatrixView<Real>(matrix.data() + first_row * matrix.outerStride() + first_column, rows,
                          columns, Eigen::OuterStride<>(matrix.outerStride()));
}

}  // namespace

template <class Real>
struct MultiHeadAttention<Real>::Head {
  HeadId id;
  Index slot, query_start, queries_count, keys_count;
  Visible visible;
  MatrixView<Real> queries, keys, values, context;
  MatrixView<Real> log_sum;  // [Tq, 1]
};

template <class Real>
MultiHeadAttention<Real>::MultiHeadAttention(AttentionConfig config, const std::string& prefix,
                                             ParameterLayout& layout,
                                             const AttentionHooks<Real>* hooks)
    : config_(std::move(config)),
      hooks_(hooks),
      scale_(1 / std::sqrt(static_cast<Real>(config_.head_width))),
      dropout_place_(static_cast<std::uint32_t>(config_.site) << 16 |
                     static_cast<std::uint32_t>(config_.layer) << 4) {
  using Role = ParameterRole;
  const Index all = heads() * config_.head_width;
  const int layer = config_.layer;
  const auto weight = [&](const char* name, Role role) {
    return ParameterLayout::Column{prefix + name, role, all};
  };
  const auto w_q = weight(".w_q", Role::query), w_k = weight(".w_k", Role::key),
             w_v = weight(".w_v", Role::value);
  const auto b_q = weight(".b_q", Role::bias), b_k = weight(".b_k", Role::bias),
             b_v = weight(".b_v", Role::bias);
  if (is_self()) {
    query_weights_ = layout.add_side_by_side(layer, config_.width, {w_q, w_k, w_v});
    query_bias_ = layout.add_side_by_side(layer, 1, {b_q, b_k, b_v});
  } else {
    query_weights_ = layout.add_side_by_side(layer, config_.width, {w_q});
    query_bias_ = layout.add_side_by_side(layer, 1, {b_q});
    memory_weights_ = layout.add_side_by_side(layer, config_.memory_width, {w_k, w_v});
    memory_bias_ = layout.add_side_by_side(layer, 1, {b_k, b_v});
  }
  output_weights_ = layout.add(prefix + ".w_o", Role::attention_output, layer, all, config_.width);
  output_bias_ = layout.add(prefix + ".b_o", Role::bias, layer, 1, config_.width);
}

template <class Real>
Index MultiHeadAttention<Real>::slot_of(int head) const {
  const auto at = std::find(config_.heads.begin(), config_.heads.end(), head);
  if (at == config_.heads.end())
    throw Error(ExitCode::bad_data,
                fmt::format("{} is not there: never built, or removed",
                            to_string(HeadId{config_.site, config_.layer, head})));
  return at - config_.heads.begin();
}

template <class Real>
auto MultiHeadAttention<Real>::head_views(const AttentionInput<Real>& input, Cache& cache,
                                          Index sequence, Index slot) const -> Head {
  const auto b = static_cast<std::size_t>(sequence);
  const Index q0 = input.query_offsets[b], tq = input.query_offsets[b + 1] - q0;
  const Index k0 = input.key_offsets[b], tk = input.key_offsets[b + 1] - k0;
  const Index width = config_.head_width, all = heads() * width, column = slot * width;
  auto query_side = cache.query_side.view();
  auto key_side = is_self() ? cache.query_side.view() : cache.memory_side.view();
  const Index first_key = is_self() ? all : 0;
  auto context = cache.context.view();
  auto log_sum = cache.log_sum.view();
  return {id(slot),
          slot,
          q0,
          tq,
          tk,
          config_.mask == AttentionMask::causal ? Visible::up_to_itself(tq, tk) : Visible::all(tk),
          cut(query_side, q0, tq, column, width),
          cut(key_side, k0, tk, first_key + column, width),
          cut(key_side, k0, tk, first_key + all + column, width),
          cut(context, q0, tq, column, width),
          cut(log_sum, q0, tq, slot, 1)};
}

template <class Real>
void MultiHeadAttention<Real>::project(const Parameters<Real>& parameters,
                                       const AttentionInput<Real>& input,
                                       const AttentionPass<Real>& pass, Cache& cache) const {
  auto query_side = cache.query_side.resize(input.x.rows(), query_weights_.cols);
  product<Real>(cache.x.of(pass.precision, input.x),
                cache.query_weights.of(pass.precision, parameters.view(query_weights_)),
                query_side);
  add_to_rows<Real>(parameters.view(query_bias_), query_side);
  if (is_self()) return;
  auto memory_side = cache.memory_side.resize(input.memory.rows(), memory_weights_.cols);
  product<Real>(cache.memory.of(pass.precision, input.memory),
                cache.memory_weights.of(pass.precision, parameters.view(memory_weights_)),
                memory_side);
  add_to_rows<Real>(parameters.view(memory_bias_), memory_side);
}

template <class Real>
void MultiHeadAttention<Real>::transform_vectors(const AttentionInput<Real>& input,
                                                 Cache& cache) const {
  if (!hooks_ || !hooks_->acts_on_vectors()) return;
  for (Index b = 0; b + 1 < static_cast<Index>(input.query_offsets.size()); ++b)
    for (Index slot = 0; slot < heads(); ++slot) {
      auto head = head_views(input, cache, b, slot);
      hooks_->transform(head.queries);
      hooks_->transform(head.keys);
    }
}

template <class Real>
HeadSlice<Real> MultiHeadAttention<Real>::slice_of(const Head& head) const {
  return {head.id, read_only(head.queries), read_only(head.keys), head.visible, scale_};
}

// scores = Q Kᵀ / √K + what the position encoding adds; what is not visible is undefined.
template <class Real>
void MultiHeadAttention<Real>::fill_scores(const Parameters<Real>& parameters, const Head& head,
                                           Scratch& scratch, MatrixRef<Real> scores) const {
  kernels<Real>().scores(const_rows_of<Real>(head.queries), const_rows_of<Real>(head.keys), scale_,
                         head.visible, rows_of<Real>(scores), work(head, scratch));
  if (hooks_ && hooks_->acts_on_scores())
    hooks_->add_to_scores(parameters, slice_of(head), scores, scratch.hooks);
}

template <class Real>
Real* MultiHeadAttention<Real>::work(const Head& head, Scratch& scratch) const {
  return scratch.work.resize(1, work_size(head.keys_count, config_.head_width)).data();
}

template <class Real>
void MultiHeadAttention<Real>::fill_uniform(MatrixRef<Real> pattern) const {
  pattern.setZero();
  for (Index i = 0; i < pattern.rows(); ++i) {
    const Index visible = visible_keys(config_.mask, i, pattern.rows(), pattern.cols());
    pattern.row(i).head(visible).setConstant(1 / static_cast<Real>(visible));
  }
}

template <class Real>
DropoutSource MultiHeadAttention<Real>::pattern_dropout(const AttentionPass<Real>& pass,
                                                        const Head& head) const {
  constexpr std::uint32_t kColumnsPerHead = 1U << 20;  // more keys than a sequence can have
  return pass.pattern_dropout.source(dropout_place_, pass.first_row + head.query_start,
                                     static_cast<std::uint32_t>(head.id.head) * kColumnsPerHead);
}

template <class Real>
void MultiHeadAttention<Real>::attend(const Parameters<Real>& parameters,
                                      const AttentionPass<Real>& pass, const Head& head,
                                      Index sequence, Cache& cache, Scratch& scratch) const {
  using Context = typename HeadTreatment<Real>::Context;
  const Real gate = pass.treatment->gate.at(head.id);
  const Context kind = pass.treatment->context.at(head.id);
  const bool needs_own =
      pass.observer || (kind != Context::mean && (gate != 0 || pass.gate_gradients));
  auto context = head.context;
  if (needs_own) {
    auto pattern = scratch.pattern.resize(head.queries_count, head.keys_count);
    const auto mix = [&] {
      kernels<Real>().mix(const_rows_of<Real>(pattern), const_rows_of<Real>(head.values), Real{1},
                          head.visible, rows_of<Real>(context));
      if (hooks_ && hooks_->acts_on_contexts())
        hooks_->add_to_context(parameters, slice_of(head), pattern, context, scratch.hooks);
    };
    // Observers see a head as it is without dropout, which then follows.
    const DropoutSource dropout =
        kind == Context::uniform ? DropoutSource{} : pattern_dropout(pass, head);
    const bool drops_later = pass.observer && dropout.active();
    if (kind == Context::uniform) {
      fill_uniform(pattern);
    } else {
      fill_scores(parameters, head, scratch, pattern);
      auto log_sum = head.log_sum;
      kernels<Real>().pattern(head.visible, drops_later ? DropoutSource{} : dropout,
                              rows_of<Real>(pattern), log_sum.data(), log_sum.outerStride());
    }
    mix();
    if (pass.observer)
      pass.observer->observe(
          {head.id, sequence, config_.mask, read_only(pattern), read_only(context)});
    if (drops_later) {
      kernels<Real>().drop(dropout, const_rows_of<Real>(pattern), rows_of<Real>(pattern));
      mix();
    }
  }
  if (kind == Context::mean)
    context.rowwise() = pass.treatment->mean.at(head.id);
  else if (!needs_own)
    context.setZero();
  if (!cache.all_gates_one) {
    auto all_gated = cache.gated.view();
    cut(all_gated, head.query_start, head.queries_count, head.slot * config_.head_width,
        config_.head_width) = context * gate;
  }
}

template <class Real>
void MultiHeadAttention<Real>::forward(const Parameters<Real>& parameters,
                                       const AttentionInput<Real>& input,
                                       const AttentionPass<Real>& pass, Cache& cache,
                                       Scratch& scratch, MatrixRef<Real> out) const {
  project(parameters, input, pass, cache);
  transform_vectors(input, cache);
  const Index tokens = input.x.rows(), all = heads() * config_.head_width;
  cache.context.resize(tokens, all);
  cache.log_sum.resize(tokens, heads());
  cache.all_gates_one = true;
  for (Index slot = 0; slot < heads(); ++slot)
    cache.all_gates_one &= pass.treatment->gate.at(id(slot)) == Real{1};
  if (!cache.all_gates_one) cache.gated.resize(tokens, all);
  for (Index b = 0; b + 1 < static_cast<Index>(input.query_offsets.size()); ++b)
    for (Index slot = 0; slot < heads(); ++slot)
      attend(parameters, pass, head_views(input, cache, b, slot), b, cache, scratch);
  const auto mixed = cache.all_gates_one ? cache.context.view() : cache.gated.view();
  product<Real>(cache.mixed.of(pass.precision, mixed),
                cache.output_weights.of(pass.precision, parameters.view(output_weights_)), out);
  add_to_rows<Real>(parameters.view(output_bias_), out);
}

// With δ_i = Σ_k d_context[i,k] context[i,k] = Σ_j A[i,j] dA[i,j]:
//   dV = Aᵀ d_context,  dA = d_context Vᵀ,  dS = A ∘ (dA - δ),  dQ = dS K/√K,  dK = dSᵀ Q/√K.
template <class Real>
void MultiHeadAttention<Real>::attend_backward(const Parameters<Real>& parameters,
                                               const AttentionPass<Real>& pass, const Head& head,
                                               Scratch& scratch, ConstMatrixRef<Real> d_context,
                                               MatrixRef<Real> d_queries, MatrixRef<Real> d_keys,
                                               MatrixRef<Real> d_values,
                                               Parameters<Real>* gradient) const {
  using Context = typename HeadTreatment<Real>::Context;
  const auto& kernel = kernels<Real>();
  const bool adds_to_context = hooks_ && hooks_->acts_on_contexts();
  auto pattern = scratch.pattern.resize(head.queries_count, head.keys_count);
  const auto values_backward = [&] {
    kernel.mix_back(const_rows_of<Real>(pattern), const_rows_of<Real>(d_context), Real{1},
                    head.visible, rows_of<Real>(d_values));
    if (adds_to_context && gradient)
      hooks_->context_to_parameters(slice_of(head), pattern, d_context, *gradient, scratch.hooks);
  };
  if (pass.treatment->context.at(head.id) == Context::uniform) {
    fill_uniform(pattern);
    values_backward();
    d_queries.setZero();  // a constant pattern passes them nothing
    d_keys.setZero();
    return;
  }
  fill_scores(parameters, head, scratch, pattern);
  auto d_scores = scratch.d_pattern.resize(head.queries_count, head.keys_count);
  kernel.scores(const_rows_of<Real>(d_context), const_rows_of<Real>(head.values), Real{1},
                head.visible, rows_of<Real>(d_scores), work(head, scratch));
  if (adds_to_context)
    hooks_->context_to_pattern(parameters, slice_of(head), d_context, d_scores, scratch.hooks);
  kernel.pattern_back(head.visible, pattern_dropout(pass, head), const_rows_of<Real>(d_context),
                      const_rows_of<Real>(head.context), head.log_sum.data(),
                      head.log_sum.outerStride(), rows_of<Real>(pattern), rows_of<Real>(d_scores));
  values_backward();
  kernel.mix(const_rows_of<Real>(d_scores), const_rows_of<Real>(head.keys), scale_, head.visible,
             rows_of<Real>(d_queries));
  kernel.mix_back(const_rows_of<Real>(d_scores), const_rows_of<Real>(head.queries), scale_,
                  head.visible, rows_of<Real>(d_keys));
  if (hooks_ && hooks_->acts_on_scores())
    hooks_->scores_backward(parameters, slice_of(head), d_scores, d_queries, d_keys, gradient,
                            scratch.hooks);
  if (hooks_ && hooks_->acts_on_vectors()) {
    hooks_->transform_backward(d_queries);
    hooks_->transform_backward(d_keys);
  }
}

template <class Real>
void MultiHeadAttention<Real>::backward(const Parameters<Real>& parameters,
                                        const AttentionInput<Real>& input,
                                        const AttentionPass<Real>& pass, Cache& cache,
                                        Scratch& scratch, ConstMatrixRef<Real> d_out,
                                        MatrixRef<Real> d_x, MatrixRef<Real> d_memory,
                                        Parameters<Real>* gradient,
                                        MatrixRef<Real> gate_gradients) const {
  using Context = typename HeadTreatment<Real>::Context;
  const Index width = config_.head_width, all = heads() * width;
  auto d_gated = scratch.d_context.resize(input.x.rows(), all);
  const auto from_out = scratch.from_out.of(pass.precision, d_out);
  product_bt<Real>(from_out, cache.output_weights.again(parameters.view(output_weights_)), d_gated);
  if (gradient) {
    const auto mixed = cache.all_gates_one ? cache.context.view() : cache.gated.view();
    product_at<Real>(cache.mixed.again(mixed), from_out, gradient->view(output_weights_),
                     Accumulate::yes);
    add_column_sums<Real>(d_out, gradient->view(output_bias_));
  }
  const bool to_input = gradient || pass.input_gradient;
  auto d_query_side = scratch.d_query_side.resize(input.x.rows(), query_weights_.cols);
  auto d_key_side = is_self()
                        ? scratch.d_query_side.view()
                        : scratch.d_memory_side.resize(input.memory.rows(), memory_weights_.cols);
  const Index first_key = is_self() ? all : 0;
  for (Index b = 0; b + 1 < static_cast<Index>(input.query_offsets.size()); ++b)
    for (Index slot = 0; slot < heads(); ++slot) {
      const auto head = head_views(input, cache, b, slot);
      const Index k0 = input.key_offsets[static_cast<std::size_t>(b)], column = slot * width;
      auto d_context = cut(d_gated, head.query_start, head.queries_count, column, width);
      if (pass.gate_gradients)
        gate_gradients(b, head.id.head) =
            static_cast<Real>(inner_product<Real>(head.context, d_context));
      if (!to_input) continue;
      auto d_queries = cut(d_query_side, head.query_start, head.queries_count, column, width);
      auto d_keys = cut(d_key_side, k0, head.keys_count, first_key + column, width);
      auto d_values = cut(d_key_side, k0, head.keys_count, first_key + all + column, width);
      const Real gate = pass.treatment->gate.at(head.id);
      if (gate == 0 || pass.treatment->context.at(head.id) == Context::mean) {
        d_queries.setZero();
        d_keys.setZero();
        d_values.setZero();
        continue;
      }
      if (gate != 1) d_context *= gate;
      attend_backward(parameters, pass, head, scratch, d_context, d_queries, d_keys, d_values,
                      gradient);
    }
  if (!to_input) return;
  const auto from_queries = scratch.from_queries.of(pass.precision, d_query_side);
  product_bt<Real>(from_queries, cache.query_weights.again(parameters.view(query_weights_)), d_x);
  if (gradient) {
    product_at<Real>(cache.x.again(input.x), from_queries, gradient->view(query_weights_),
                     Accumulate::yes);
    add_column_sums<Real>(d_query_side, gradient->view(query_bias_));
  }
  if (is_self()) return;
  const auto from_keys = scratch.from_keys.of(pass.precision, d_key_side);
  product_bt<Real>(from_keys, cache.memory_weights.again(parameters.view(memory_weights_)),
                   d_memory, Accumulate::yes);
  if (!gradient) return;
  product_at<Real>(cache.memory.again(input.memory), from_keys, gradient->view(memory_weights_),
                   Accumulate::yes);
  add_column_sums<Real>(d_key_side, gradient->view(memory_bias_));
}

template <class Real>
void MultiHeadAttention<Real>::copy_heads(const Parameters<Real>& from_values,
                                          const MultiHeadAttention& to,
                                          Parameters<Real>& to_values) const {
  const Index width = config_.head_width;
  const auto copy_columns = [&](const ParameterBlock& from, const ParameterBlock& block,
                                Index parts) {
    auto source = from_values.view(from);
    auto target = to_values.view(block);
    for (Index part = 0; part < parts; ++part)
      for (Index slot = 0; slot < to.heads(); ++slot)
        target.middleCols((part * to.heads() + slot) * width, width) =
            source.middleCols((part * heads() + slot_of(to.id(slot).head)) * width, width);
  };
  copy_columns(query_weights_, to.query_weights_, is_self() ? 3 : 1);
  copy_columns(query_bias_, to.query_bias_, is_self() ? 3 : 1);
  if (!is_self()) {
    copy_columns(memory_weights_, to.memory_weights_, 2);
    copy_columns(memory_bias_, to.memory_bias_, 2);
  }
  auto output = to_values.view(to.output_weights_);
  for (Index slot = 0; slot < to.heads(); ++slot)
    output.middleRows(slot * width, width) =
        from_values.view(output_weights_).middleRows(slot_of(to.id(slot).head) * width, width);
  to_values.view(to.output_bias_) = from_values.view(output_bias_);
}

template <class Real>
void MultiHeadAttention<Real>::fold_into_bias(Parameters<Real>& parameters, int head, Real gate,
                                              const RowVector<Real>& mean) const {
  auto rows = parameters.view(output_weights_)
                  .middleRows(slot_of(head) * config_.head_width, config_.head_width);
  parameters.view(output_bias_) += gate * (mean * rows);
}

template <class Real>
void MultiHeadAttention<Real>::head_share(const Parameters<Real>& parameters, const Cache& cache,
                                          int head, MatrixRef<Real> share) const {
  const Index first = slot_of(head) * config_.head_width;
  const auto gated = cache.all_gates_one ? cache.context.view() : cache.gated.view();
  product<Real>(gated.middleCols(first, config_.head_width),
                parameters.view(output_weights_).middleRows(first, config_.head_width), share);
}

template <class Real>
double MultiHeadAttention<Real>::output_inner_product(const Parameters<Real>& parameters,
                                                      const Parameters<Real>& gradient,
                                                      int head) const {
  const Index first = slot_of(head) * config_.head_width;
  return inner_product<Real>(parameters.view(output_weights_).middleRows(first, config_.head_width),
                             gradient.view(output_weights_).middleRows(first, config_.head_width));
}

template class MultiHeadAttention<float>;
template class MultiHeadAttention<double>;

}  // namespace headcount
