#include "attention/multi_head.hpp"

#include <algorithm>

#include "math/reduce.hpp"

namespace headcount {

template <class Real>
struct MultiHeadAttention<Real>::Head {
  HeadId id;
  Index slot, query_start, queries_count, keys_count;
  Visible visible;
  ConstMatrixView<Real> queries, keys, values;
  MatrixView<Real> context;
  MatrixView<Real> log_sum;  // [Tq, 1]
};

template <class Real>
MultiHeadAttention<Real>::MultiHeadAttention(AttentionConfig config, const std::string& prefix,
                                             ParameterLayout& layout,
                                             const AttentionHooks<Real>* hooks)
    : projections_(std::move(config), prefix, layout, hooks),
      hooks_(hooks),
      score_(score_functions()
                 .at(this->config().score)
                 .template make<Real>(this->config(), prefix, layout)),
      dropout_place_(static_cast<std::uint32_t>(this->config().site) << 16 |
                     static_cast<std::uint32_t>(this->config().layer) << 4) {
  const auto& made = this->config();
  output_weights_ = layout.add(prefix + ".w_o", ParameterRole::attention_output, made.layer,
                               heads() * width(), made.width);
  output_bias_ = layout.add(prefix + ".b_o", ParameterRole::bias, made.layer, 1, made.width);
  if (made.average)
    average_.emplace(*made.average, made.width, made.layer, prefix + ".average", layout);
}

template <class Real>
Index MultiHeadAttention<Real>::slot_of(int head) const {
  const auto& present = config().heads;
  const auto at = std::find(present.begin(), present.end(), head);
  if (at == present.end())
    throw Error(ExitCode::bad_data,
                fmt::format("{} is not there: never built, or removed",
                            to_string(HeadId{config().site, config().layer, head})));
  return at - present.begin();
}

template <class Real>
auto MultiHeadAttention<Real>::head_views(const AttentionInput<Real>& input, Cache& cache,
                                          Index sequence, Index slot) const -> Head {
  const auto [q0, tq] = rows_of_sequence(input.query_offsets, sequence);
  const auto [k0, tk] = rows_of_sequence(input.key_offsets, sequence);
  const auto vectors = projections_.vectors(input, cache.projections, sequence, slot);
  return {id(slot),
          slot,
          q0,
          tq,
          tk,
          config().mask == AttentionMask::causal ? Visible::up_to_itself(tq, tk) : Visible::all(tk),
          vectors.queries,
          vectors.keys,
          vectors.values,
          cut(cache.context.view(), q0, tq, slot * width(), width()),
          cut(cache.log_sum.view(), q0, tq, slot, 1)};
}

template <class Real>
HeadSlice<Real> MultiHeadAttention<Real>::slice_of(const Head& head) const {
  return {head.id, head.queries, head.keys, head.visible, score_->scale()};
}

// The score function's scores and what the position encoding adds; what is not visible is
// undefined.
template <class Real>
void MultiHeadAttention<Real>::fill_scores(const Parameters<Real>& parameters, const Head& head,
                                           Scratch& scratch, MatrixRef<Real> scores) const {
  score_->scores(parameters, {head.slot, head.queries, head.keys, head.visible}, scores,
                 work(head, scratch));
  if (hooks_ && hooks_->acts_on_scores())
    hooks_->add_to_scores(parameters, slice_of(head), scores, scratch.hooks);
}

template <class Real>
Real* MultiHeadAttention<Real>::work(const Head& head, Scratch& scratch) const {
  return scratch.work.resize(1, work_size(head.keys_count, width())).data();
}

template <class Real>
void MultiHeadAttention<Real>::fill_uniform(MatrixRef<Real> pattern) const {
  pattern.setZero();
  for (Index i = 0; i < pattern.rows(); ++i) {
    const Index visible = visible_keys(config().mask, i, pattern.rows(), pattern.cols());
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
          {head.id, sequence, config().mask, read_only(pattern), read_only(context)});
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
    cut(cache.gated.view(), head.query_start, head.queries_count, head.slot * width(), width()) =
        context * gate;
  }
}

template <class Real>
void MultiHeadAttention<Real>::forward(const Parameters<Real>& parameters,
                                       const AttentionInput<Real>& input,
                                       const AttentionPass<Real>& pass, Cache& cache,
                                       Scratch& scratch, MatrixRef<Real> out) const {
  const auto x = cache.x.of(pass.precision, input.x);
  projections_.forward(parameters, input, x, pass.precision, cache.projections);
  const Index tokens = input.x.rows(), all = heads() * width();
  cache.context.resize(tokens, all);
  cache.log_sum.resize(tokens, heads());
  cache.all_gates_one = true;
  for (Index slot = 0; slot < heads(); ++slot)
    cache.all_gates_one &= pass.treatment->gate.at(id(slot)) == Real{1};
  if (!cache.all_gates_one) cache.gated.resize(tokens, all);
  for (Index b = 0; b < sequences_of(input.query_offsets); ++b)
    for (Index slot = 0; slot < heads(); ++slot)
      attend(parameters, pass, head_views(input, cache, b, slot), b, cache, scratch);
  const auto mixed = cache.all_gates_one ? cache.context.view() : cache.gated.view();
  product<Real>(cache.mixed.of(pass.precision, mixed),
                parameters.factor(pass.precision, output_weights_), out);
  if (average_)
    average_->forward(parameters, x, input.query_offsets, pass.precision, cache.average, out);
  add_to_rows<Real>(parameters.view(output_bias_), out);
}

// With δ_i = Σ_k d_context[i,k] context[i,k] = Σ_j A[i,j] dA[i,j]:
//   dV = Aᵀ d_context,  dA = d_context Vᵀ,  dS = A ∘ (dA - δ).
template <class Real>
void MultiHeadAttention<Real>::attend_backward(const Parameters<Real>& parameters,
                                               const AttentionPass<Real>& pass, const Head& head,
                                               Scratch& scratch, ConstMatrixRef<Real> d_context,
                                               HeadVectorGradients<Real>& gradients,
                                               Parameters<Real>* gradient) const {
  using Context = typename HeadTreatment<Real>::Context;
  const auto& kernel = kernels<Real>();
  auto &d_queries = gradients.queries, &d_keys = gradients.keys, &d_values = gradients.values;
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
  score_->backward(parameters, {head.slot, head.queries, head.keys, head.visible}, d_scores,
                   d_queries, d_keys, gradient);
  if (hooks_ && hooks_->acts_on_scores())
    hooks_->scores_backward(parameters, slice_of(head), d_scores, d_queries, d_keys, gradient,
                            scratch.hooks);
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
  auto d_gated = scratch.d_context.resize(input.x.rows(), heads() * width());
  const auto from_out = scratch.from_out.of(pass.precision, d_out);
  product_bt<Real>(from_out, parameters.factor(pass.precision, output_weights_), d_gated);
  if (gradient) {
    const auto mixed = cache.all_gates_one ? cache.context.view() : cache.gated.view();
    product_at<Real>(cache.mixed.again(mixed), from_out, gradient->view(output_weights_),
                     Accumulate::yes);
    add_column_sums<Real>(d_out, gradient->view(output_bias_));
  }
  const Index sequences = sequences_of(input.query_offsets);
  const auto d_context_of = [&](const Head& head) {
    return cut(d_gated, head.query_start, head.queries_count, head.slot * width(), width());
  };
  if (pass.gate_gradients)
    for (Index b = 0; b < sequences; ++b)
      for (Index slot = 0; slot < heads(); ++slot) {
        const auto head = head_views(input, cache, b, slot);
        gate_gradients(b, head.id.head) =
            static_cast<Real>(inner_product<Real>(head.context, d_context_of(head)));
      }
  if (!gradient && !pass.input_gradient) return;
  auto sides = projections_.start(input, d_x, d_memory, scratch.projections);
  for (Index b = 0; b < sequences; ++b)
    for (Index slot = 0; slot < heads(); ++slot) {
      const auto head = head_views(input, cache, b, slot);
      auto gradients = projections_.gradients(input, sides, b, slot, scratch.projections);
      const Real gate = pass.treatment->gate.at(head.id);
      if (gate == 0 || pass.treatment->context.at(head.id) == Context::mean) {
        gradients.set_zero();
        continue;
      }
      auto d_context = d_context_of(head);
      if (gate != 1) d_context *= gate;
      attend_backward(parameters, pass, head, scratch, d_context, gradients, gradient);
      projections_.collect(input, b, slot, gradients, sides);
    }
  const auto x = cache.x.again(input.x);
  projections_.finish(parameters, input, x, pass.precision, cache.projections, sides,
                      scratch.projections, d_x, d_memory, gradient);
  if (average_)
    average_->backward(parameters, x, input.query_offsets, pass.precision, cache.average,
                       scratch.average, from_out, d_x, gradient);
}

template <class Real>
void MultiHeadAttention<Real>::copy_heads(const Parameters<Real>& from_values,
                                          const MultiHeadAttention& to,
                                          Parameters<Real>& to_values) const {
  const auto from_output = from_values.view(output_weights_);
  auto output = to_values.view(to.output_weights_);
  const auto scores = score_->parameters(), to_scores = to.score_->parameters();
  for (Index slot = 0; slot < to.heads(); ++slot) {
    const Index from = slot_of(to.id(slot).head);
    output.middleRows(slot * width(), width()) = from_output.middleRows(from * width(), width());
    if (scores.cols > 0) to_values.view(to_scores).row(slot) = from_values.view(scores).row(from);
  }
  to_values.view(to.output_bias_) = from_values.view(output_bias_);
  projections_.copy_heads(from_values, to.projections_, to_values);
}

template <class Real>
void MultiHeadAttention<Real>::fold_into_bias(Parameters<Real>& parameters, int head, Real gate,
                                              const RowVector<Real>& mean) const {
  auto rows = parameters.view(output_weights_).middleRows(slot_of(head) * width(), width());
  parameters.view(output_bias_) += gate * (mean * rows);
}

template <class Real>
void MultiHeadAttention<Real>::head_share(const Parameters<Real>& parameters, const Cache& cache,
                                          int head, MatrixRef<Real> share) const {
  const Index first = slot_of(head) * width();
  const auto gated = cache.all_gates_one ? cache.context.view() : cache.gated.view();
  product<Real>(gated.middleCols(first, width()),
                parameters.view(output_weights_).middleRows(first, width()), share);
}

template <class Real>
double MultiHeadAttention<Real>::output_inner_product(const Parameters<Real>& parameters,
                                                      const Parameters<Real>& gradient,
                                                      int head) const {
  const Index first = slot_of(head) * width();
  return inner_product<Real>(parameters.view(output_weights_).middleRows(first, width()),
                             gradient.view(output_weights_).middleRows(first, width()));
}

template class MultiHeadAttention<float>;
template class MultiHeadAttention<double>;

}  // namespace headcount
