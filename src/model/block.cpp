#include "model/block.hpp"

namespace headcount {

namespace {

SublayerConfig sublayer_of(const BlockConfig& config) {
  return {config.attention.width, config.attention.layer, config.norm, config.norm_kind,
          config.residual};
}

}  // namespace

template <class Real>
Block<Real>::Block(const BlockConfig& config, const std::string& prefix, ParameterLayout& layout,
                   const AttentionHooks<Real>* hooks)
    : around_attention_(
          sublayer_of(config), prefix + ".norm_1", prefix + ".residual_1",
          dropout_place(config.attention.site, config.attention.layer, DropoutPlace::attention),
          layout),
      attention_(config.attention, prefix + ".self", layout, hooks) {
  if (config.feed_forward == 0) return;
  around_feed_forward_.emplace(
      sublayer_of(config), prefix + ".norm_2", prefix + ".residual_2",
      dropout_place(config.attention.site, config.attention.layer, DropoutPlace::feed_forward),
      layout);
  feed_forward_.emplace(config.attention.width, config.feed_forward, config.activation,
                        config.attention.layer, prefix + ".feed_forward", layout);
}

template <class Real>
void Block<Real>::forward(const Parameters<Real>& parameters, Offsets offsets,
                          const AttentionPass<Real>& pass, const Dropout& dropout, Cache& cache,
                          Scratch& scratch, MatrixRef<Real> stream) const {
  attend(parameters, offsets, pass, dropout, cache, scratch, stream);
  feed_forward(parameters, pass, dropout, cache, scratch, stream);
}

template <class Real>
void Block<Real>::attend(const Parameters<Real>& parameters, Offsets offsets,
                         const AttentionPass<Real>& pass, const Dropout& dropout, Cache& cache,
                         Scratch& scratch, MatrixRef<Real> stream) const {
  around_attention_.forward(parameters, dropout, pass.first_row, cache.around_attention,
                            scratch.around, stream,
                            [&](ConstMatrixView<Real> input, MatrixRef<Real> output) {
                              attention_.forward(parameters, {input, input, offsets, offsets}, pass,
                                                 cache.attention, scratch.attention, output);
                            });
}

template <class Real>
void Block<Real>::feed_forward(const Parameters<Real>& parameters, const AttentionPass<Real>& pass,
                               const Dropout& dropout, Cache& cache, Scratch& scratch,
                               MatrixRef<Real> stream) const {
  if (!feed_forward_) return;
  around_feed_forward_->forward(
      parameters, dropout, pass.first_row, cache.around_feed_forward, scratch.around, stream,
      [&](ConstMatrixView<Real> input, MatrixRef<Real> output) {
        feed_forward_->forward(parameters, pass.precision, pass.backward_follows, input,
                               cache.feed_forward, scratch.feed_forward, output);
      });
}

template <class Real>
void Block<Real>::attend_without_each(const Parameters<Real>& parameters,
                                      std::span<const HeadId> heads, ConstMatrixRef<Real> entering,
                                      const Cache& intact, const Scratch& intact_scratch,
                                      Cache& cache, Scratch& scratch,
                                      MatrixRef<Real> streams) const {
  const Index tokens = entering.rows();
  const auto intact_output = attended(intact, intact_scratch);
  auto outputs = scratch.around.output.resize(streams.rows(), streams.cols());
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const Index first = static_cast<Index>(i) * tokens;
    auto output = outputs.middleRows(first, tokens);
    attention_.head_share(parameters, intact.attention, heads[i].head, output);
    output = intact_output - output;
    streams.middleRows(first, tokens) = entering;
  }
  around_attention_.add(parameters, {}, 0, cache.around_attention, outputs, streams);
}

template <class Real>
void Block<Real>::backward(const Parameters<Real>& parameters, Offsets offsets,
                           const AttentionPass<Real>& pass, const Dropout& dropout, Cache& cache,
                           Scratch& scratch, MatrixRef<Real> d_stream, Parameters<Real>* gradient,
                           MatrixRef<Real> gate_gradients) const {
  if (feed_forward_)
    around_feed_forward_->backward(
        parameters, dropout, pass.first_row, cache.around_feed_forward, scratch.around, d_stream,
        gradient, true,
        [&](ConstMatrixView<Real> input, ConstMatrixRef<Real> d_output, MatrixRef<Real> d_input) {
          feed_forward_->backward(parameters, pass.precision, input, cache.feed_forward,
                                  scratch.feed_forward, d_output, d_input, gradient);
        });
  around_attention_.backward(
      parameters, dropout, pass.first_row, cache.around_attention, scratch.around, d_stream,
      gradient, pass.input_gradient,
      [&](ConstMatrixView<Real> input, ConstMatrixRef<Real> d_output, MatrixRef<Real> d_input) {
        Matrix<Real> no_memory;
        attention_.backward(parameters, {input, input, offsets, offsets}, pass, cache.attention,
                            scratch.attention, d_output, d_input, no_memory, gradient,
                            gate_gradients);
      });
}

template class Block<float>;
template class Block<double>;

}  // namespace headcount
