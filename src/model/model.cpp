#include "model/model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "math/reduce.hpp"

namespace headcount {

void ModelConfig::set_heads(const std::vector<int>& heads_per_layer, std::vector<Index> widths) {
  if (widths.size() == 1) widths.assign(heads_per_layer.size(), widths[0]);
  head_widths = std::move(widths);
  original = HeadCounts(site, heads_per_layer);
  heads.clear();
  for (const int count : heads_per_layer) {
    if (count < 0)
      throw Error(ExitCode::bad_data,
                  fmt::format("a layer cannot have {} heads; 0 empties it", count));
    auto& layer = heads.emplace_back(static_cast<std::size_t>(count));
    std::iota(layer.begin(), layer.end(), 0);
  }
}

AttentionConfig ModelConfig::attention(int layer) const {
  const auto l = static_cast<std::size_t>(layer);
  const int built = original.layers(site)[l];
  AttentionConfig config;
  config.site = site;
  config.layer = layer;
  config.width = config.memory_width = width;
  config.head_width = head_widths[l];
  config.heads = heads[l];
  config.mask = mask;
  config.score = score;
  config.sharing = sharing;
  config.group = key_value_heads > 0 && built > 0 ? built / key_value_heads : 1;
  if (average) config.average = mask;
  return config;
}

namespace {

void require_positive(Index value, const char* what) {
  if (value <= 0)
    throw Error(ExitCode::bad_data, fmt::format("{} must be positive, not {}", what, value));
}

template <class T>
void require_layers(const PerLayer<T>& values, int layers, const char* what) {
  if (!values.fits(static_cast<std::size_t>(layers)))
    throw Error(ExitCode::bad_data, fmt::format("{} {} for {} layers; give one, or one a layer",
                                                values.given(), what, layers));
}

void require_rate(double rate, const char* what) {
  if (!(rate >= 0 && rate < 1))
    throw Error(ExitCode::bad_data,
                fmt::format("{} must be at least 0 and less than 1, not {}", what, rate));
}

// The heads present are some of those built, ascending.
void require_heads(const ModelConfig& config) {
  const auto& built = config.original.layers(config.site);
  if (config.heads.size() != built.size() || config.original != HeadCounts(config.site, built))
    throw Error(ExitCode::bad_data,
                fmt::format("heads are given for {} layers of {}, but {} were built there",
                            config.heads.size(), name_of(config.site), built.size()));
  for (std::size_t layer = 0; layer < built.size(); ++layer) {
    int next = 0;
    for (const int head : config.heads[layer]) {
      if (head < next || head >= built[layer])
        throw Error(
            ExitCode::bad_data,
            fmt::format("{}: the heads present must be ascending and below {}",
                        to_string({config.site, static_cast<int>(layer), head}), built[layer]));
      next = head + 1;
    }
  }
}

// What one layer's heads must be like for the others' sake, or for the input's.
void require_fit(const ModelConfig& config) {
  const auto& built = config.original.layers(config.site);
  for (std::size_t layer = 0; layer < built.size(); ++layer) {
    const auto refuse = [&](const std::string& why) {
      throw Error(ExitCode::bad_data, fmt::format("{}:{}: {}", name_of(config.site), layer, why));
    };
    const int heads = built[layer];
    if (config.key_value_heads > 0 && heads % config.key_value_heads != 0)
      refuse(fmt::format("{} heads cannot share {} heads of keys and values evenly", heads,
                         config.key_value_heads));
    if (config.sharing == Sharing::identity && heads > 0 &&
        heads * config.head_widths[layer] != config.width)
      refuse(fmt::format(
          "without projections {} heads of width {} take {} columns, not the model's "
          "{}",
          heads, config.head_widths[layer], heads * config.head_widths[layer], config.width));
  }
}

std::string stack_name(const ModelConfig& config) {
  return config.site == Site::encoder_self ? "encoder" : "decoder";
}

// The rows of sequence b.
template <class View>
auto rows_of(View& all, const Offsets& offsets, Index b) {
  const auto begin = offsets[static_cast<std::size_t>(b)];
  return all.middleRows(begin, offsets[static_cast<std::size_t>(b) + 1] - begin);
}

// Row after row: Eigen's own order depends on where x lies.
template <class Real>
void mean_of_rows(ConstMatrixRef<Real> x, MatrixRef<Real> mean) {
  mean.setZero();
  for (Index i = 0; i < x.rows(); ++i) mean += x.row(i);
  mean /= static_cast<Real>(x.rows());
}

}  // namespace

PositionConfig position_config(const ModelConfig& config) {
  return {config.width,
          config.longest,
          stack_name(config),
          config.mask,
          config.original.layers(config.site),
          config.head_widths,
          config.relative_distance};
}

template <class Real>
Model<Real>::Model(ModelConfig config)
    : config_(std::move(config)), layout_(std::make_unique<ParameterLayout>()) {
  require_positive(config_.vocabulary, "the vocabulary");
  require_positive(config_.width, "the model's width");
  require_positive(config_.layers(), "the number of layers");
  require_layers(config_.feed_forward, config_.layers(), "feed-forward widths");
  require_layers(config_.norm, config_.layers(), "norm placements");
  require_layers(config_.residual, config_.layers(), "kinds of residual");
  require_positive(config_.longest, "the longest sequence");
  require_positive(config_.relative_distance, "the largest relative distance");
  if (config_.head_widths.size() != config_.heads.size())
    throw Error(ExitCode::bad_data, fmt::format("{} head widths for {} layers",
                                                config_.head_widths.size(), config_.layers()));
  for (const Index head_width : config_.head_widths) require_positive(head_width, "the head width");
  if (config_.classes < 0 || config_.classes == 1)
    throw Error(ExitCode::bad_data,
                fmt::format("a classifier has at least 2 classes, not {}", config_.classes));
  require_rate(config_.dropout, "dropout");
  require_rate(config_.pattern_dropout, "pattern dropout");
  if (config_.site == Site::cross)
    throw Error(ExitCode::bad_data, "a single stack has self-attention, not cross-attention");
  require_heads(config_);
  if (config_.key_value_heads < 0)
    throw Error(ExitCode::bad_data, fmt::format("a model cannot have {} heads of keys and values",
                                                config_.key_value_heads));
  require_fit(config_);

  embedding_ = layout_->add("embedding.token", ParameterRole::token_embedding, -1,
                            config_.vocabulary, config_.width);
  positions_ = position_encodings()
                   .at(config_.positions)
                   .template make<Real>(position_config(config_), *layout_);
  for (int layer = 0; layer < config_.layers(); ++layer) {
    const auto l = static_cast<std::size_t>(layer);
    const Index inner = config_.feed_forward.at(l);
    if (inner < 0)
      throw Error(
          ExitCode::bad_data,
          fmt::format("layer {}: a feed-forward sublayer {} wide; 0 leaves it out", layer, inner));
    blocks_.emplace_back(BlockConfig{config_.attention(layer), inner, config_.norm.at(l),
                                     config_.norm_kind, config_.residual.at(l), config_.activation},
                         fmt::format("{}.{}", stack_name(config_), layer), *layout_,
                         positions_.get());
  }
  if (config_.final_norm())
    final_norm_.emplace(config_.norm_kind, config_.width, -1, "final_norm", *layout_);
  if (config_.classes > 0) {
    output_ = layout_->add("output.w", ParameterRole::output, -1, config_.width, config_.classes);
    output_bias_ = layout_->add("output.b", ParameterRole::bias, -1, 1, config_.classes);
  } else if (!config_.tied_output)
    output_ =
        layout_->add("output.w", ParameterRole::output, -1, config_.width, config_.vocabulary);
}

template <class Real>
bool Model<Real>::is_present(const HeadId& id) const {
  if (!heads().contains(id)) return false;
  const auto& present = config_.heads[static_cast<std::size_t>(id.layer)];
  return std::find(present.begin(), present.end(), id.head) != present.end();
}

template <class Real>
std::vector<HeadId> Model<Real>::present_heads() const {
  auto all = heads().all();
  std::erase_if(all, [this](const HeadId& id) { return !is_present(id); });
  return all;
}

template <class Real>
Parameters<Real> Model<Real>::initial_parameters(std::string_view scheme, std::uint64_t seed,
                                                 PackedTokens sample) const {
  const auto& entry = initialization_schemes().at(scheme);
  if (const auto problem = entry.unfit(config_.residual, config_.norm); !problem.empty())
    throw Error(ExitCode::bad_data, problem);
  Parameters<Real> parameters(*layout_);
  initialize(entry, {config_.site, config_.layers(), config_.width, config_.activation}, seed,
             parameters);
  if (!entry.stream_scale) return parameters;
  if (sample.tokens.empty())
    throw Error(ExitCode::internal, fmt::format("initialization scheme {} needs data", scheme));
  const auto variances = profile(parameters, sample);
  std::size_t below = 0;
  for (const auto& parameter : layout_->entries())
    if (parameter.role == ParameterRole::stream_scale)
      parameters.view(parameter.block)
          .setConstant(static_cast<Real>(entry.stream_scale({variances.data(), ++below})));
  return parameters;
}

template <class Real>
std::vector<double> Model<Real>::profile(const Parameters<Real>& parameters,
                                         PackedTokens input) const {
  const auto treatment = HeadTreatment<Real>::intact(heads());
  ModelPass<Real> pass;
  pass.treatment = &treatment;
  const AttentionPass<Real> attention = attention_pass(pass);
  ModelWorkspace<Real> workspace;
  enter(parameters, input, pass, workspace);
  workspace.blocks.resize(1);  // for all layers: nothing goes backward
  auto stream = workspace.stream.view();
  auto& scratch = workspace.scratch;
  auto& cache = workspace.blocks[0];
  std::vector<double> variances{variance<Real>(stream)};
  for (const auto& block : blocks_) {
    block.attend(parameters, input.offsets, attention, {}, cache, scratch, stream);
    variances.push_back(variance<Real>(block.attended(cache, scratch)));
    if (!block.has_feed_forward()) continue;
    block.feed_forward(parameters, attention, {}, cache, scratch, stream);
    variances.push_back(variance<Real>(block.fed_forward(cache, scratch)));
  }
  return variances;
}

template <class Real>
const MultiHeadAttention<Real>& Model<Real>::attention(Site site, int layer) const {
  if (site != config_.site || layer < 0 || layer >= config_.layers())
    throw Error(ExitCode::bad_data,
                fmt::format("this model has no attention at {}:{}", name_of(site), layer));
  return blocks_[static_cast<std::size_t>(layer)].attention();
}

template <class Real>
void Model<Real>::check(const HeadTreatment<Real>& treatment) const {
  if (treatment.gate.counts() != heads() || treatment.context.counts() != heads() ||
      treatment.mean.counts() != heads())
    throw Error(ExitCode::bad_data, "gates were made for a model with other heads");
  heads().for_each([&](const HeadId& id) {
    if (!is_present(id) && !treatment.is_intact(id))
      throw Error(ExitCode::bad_data,
                  fmt::format("a mask names {}, which was removed: nothing would consume it",
                              to_string(id)));
    const Index width = config_.head_widths[static_cast<std::size_t>(id.layer)];
    if (treatment.context.at(id) == HeadTreatment<Real>::Context::mean &&
        treatment.mean.at(id).size() != width)
      throw Error(ExitCode::bad_data,
                  fmt::format("the mean context of {} has {} numbers, but the head is {} wide",
                              to_string(id), treatment.mean.at(id).size(), width));
  });
}

template <class Real>
Dropout Model<Real>::dropout(const ModelPass<Real>& pass, double rate) const {
  return {pass.training ? rate : 0, pass.dropout_seed, pass.step};
}

template <class Real>
AttentionPass<Real> Model<Real>::attention_pass(const ModelPass<Real>& pass) const {
  return {pass.treatment,     dropout(pass, config_.pattern_dropout),
          pass.first_row,     pass.observer,
          pass.precision,     pass.backward_follows,
          pass.gate_gradients};
}

template <class Real>
void Model<Real>::embed(const Parameters<Real>& parameters, PackedTokens input,
                        MatrixRef<Real> stream) const {
  const auto table = parameters.view(embedding_);
  const Real scale =
      config_.scale_embedding ? std::sqrt(static_cast<Real>(config_.width)) : Real{1};
  for (Index i = 0; i < stream.rows(); ++i) {
    const Index token = input.tokens[static_cast<std::size_t>(i)];
    if (token < 0 || token >= config_.vocabulary)
      throw Error(ExitCode::internal, fmt::format("token {} is outside the vocabulary of {}", token,
                                                  config_.vocabulary));
    stream.row(i) = table.row(token) * scale;
  }
  positions_->add_to_embeddings(parameters, input.offsets, stream);
}

// From workspace.hidden to workspace.logits.
template <class Real>
void Model<Real>::output(const Parameters<Real>& parameters, const Offsets& offsets,
                         Precision precision, ModelWorkspace<Real>& workspace) const {
  const auto hidden = workspace.hidden.view();
  const auto factor = [&](ConstMatrixRef<Real> x) { return workspace.to_output.of(precision, x); };
  const auto weights = [&](const ParameterBlock& block) {
    return parameters.factor(precision, block);
  };
  if (config_.classes > 0) {
    const Index sequences = static_cast<Index>(offsets.size()) - 1;
    auto pooled = workspace.pooled.resize(sequences, config_.width);
    for (Index b = 0; b < sequences; ++b)
      mean_of_rows<Real>(rows_of(hidden, offsets, b), pooled.row(b));
    auto logits = workspace.logits.resize(sequences, config_.classes);
    product<Real>(factor(pooled), weights(output_), logits);
    add_to_rows<Real>(parameters.view(output_bias_), logits);
    return;
  }
  auto logits = workspace.logits.resize(hidden.rows(), config_.vocabulary);
  if (config_.tied_output)
    product_bt<Real>(factor(hidden), weights(embedding_), logits);
  else
    product<Real>(factor(hidden), weights(output_), logits);
}

// From d_logits to workspace.d_hidden.
template <class Real>
void Model<Real>::output_backward(const Parameters<Real>& parameters, const Offsets& offsets,
                                  Precision precision, ConstMatrixRef<Real> d_logits,
                                  ModelWorkspace<Real>& workspace,
                                  Parameters<Real>* gradient) const {
  const auto hidden = workspace.hidden.view();
  auto d_hidden = workspace.d_hidden.resize(hidden.rows(), config_.width);
  const auto from_logits = workspace.from_logits.of(precision, d_logits);
  const auto factor = [&](ConstMatrixRef<Real> x) { return workspace.to_output.again(x); };
  const auto weights = [&](const ParameterBlock& block) {
    return parameters.factor(precision, block);
  };
  if (config_.classes > 0) {
    const auto pooled = workspace.pooled.view();
    auto d_pooled = workspace.d_pooled.resize(pooled.rows(), config_.width);
    product_bt<Real>(from_logits, weights(output_), d_pooled);
    for (Index b = 0; b < pooled.rows(); ++b) {
      auto d_rows = rows_of(d_hidden, offsets, b);
      d_rows.rowwise() = d_pooled.row(b) / static_cast<Real>(d_rows.rows());
    }
    if (!gradient) return;
    product_at<Real>(factor(pooled), from_logits, gradient->view(output_), Accumulate::yes);
    add_column_sums<Real>(d_logits, gradient->view(output_bias_));
  } else if (config_.tied_output) {
    product<Real>(from_logits, weights(embedding_), d_hidden);
    if (gradient)
      product_at<Real>(from_logits, factor(hidden), gradient->view(embedding_), Accumulate::yes);
  } else {
    product_bt<Real>(from_logits, weights(output_), d_hidden);
    if (gradient)
      product_at<Real>(factor(hidden), from_logits, gradient->view(output_), Accumulate::yes);
  }
}

template <class Real>
void Model<Real>::enter(const Parameters<Real>& parameters, PackedTokens input,
                        const ModelPass<Real>& pass, ModelWorkspace<Real>& workspace) const {
  check(*pass.treatment);
  auto stream = workspace.stream.resize(static_cast<Index>(input.tokens.size()), config_.width);
  embed(parameters, input, stream);
  const Dropout stream_dropout = dropout(pass, config_.dropout);
  stream_dropout.apply<Real>(stream, dropout_place(config_.site, 0, DropoutPlace::embedding),
                             pass.first_row);
  workspace.blocks.resize(pass.backward_follows ? blocks_.size() : 1);
  workspace.activation_variance.clear();
}

template <class Real>
void Model<Real>::climb(const Parameters<Real>& parameters, Offsets offsets,
                        const ModelPass<Real>& pass, std::size_t first_layer,
                        ModelWorkspace<Real>& workspace) const {
  const Dropout stream_dropout = dropout(pass, config_.dropout);
  const AttentionPass<Real> attention = attention_pass(pass);
  auto stream = workspace.stream.view();
  for (std::size_t layer = first_layer; layer < blocks_.size(); ++layer) {
    blocks_[layer].forward(parameters, offsets, attention, stream_dropout,
                           cache_of(pass, layer, workspace), workspace.scratch, stream);
    if (pass.activation_variance) workspace.activation_variance.push_back(variance<Real>(stream));
  }
}

template <class Real>
void Model<Real>::leave(const Parameters<Real>& parameters, Offsets offsets, Precision precision,
                        ModelWorkspace<Real>& workspace) const {
  auto stream = workspace.stream.view();
  auto hidden = workspace.hidden.resize(stream.rows(), config_.width);
  if (final_norm_)
    final_norm_->forward(parameters, stream, workspace.final_norm, hidden);
  else
    hidden = stream;
  output(parameters, offsets, precision, workspace);
}

template <class Real>
void Model<Real>::forward(const Parameters<Real>& parameters, PackedTokens input,
                          const ModelPass<Real>& pass, ModelWorkspace<Real>& workspace) const {
  enter(parameters, input, pass, workspace);
  climb(parameters, input.offsets, pass, 0, workspace);
  leave(parameters, input.offsets, pass.precision, workspace);
}

namespace {

// `copies` times the same packed sequences, one after the other.
void repeat(Offsets offsets, std::size_t copies, std::vector<std::int64_t>& repeated) {
  repeated.assign(1, 0);
  for (std::size_t copy = 0; copy < copies; ++copy) {
    const auto start = repeated.back();
    for (const auto offset : offsets.subspan(1)) repeated.push_back(start + offset);
  }
}

}  // namespace

template <class Real>
void Model<Real>::forward_without_each(const Parameters<Real>& parameters, PackedTokens input,
                                       const ModelPass<Real>& pass, std::span<const HeadId> heads,
                                       Index most_tokens, ModelWorkspace<Real>& workspace,
                                       AblationWorkspace<Real>& ablation, const Told& told) const {
  if (pass.training || pass.observer || pass.backward_follows ||
      !std::is_sorted(heads.begin(), heads.end()) ||
      !std::all_of(heads.begin(), heads.end(), [this](const HeadId& id) { return is_present(id); }))
    throw Error(ExitCode::internal, "ablations are of heads present, in order, in evaluation");
  auto& [without, entering_buffer, offsets] = ablation;
  const AttentionPass<Real> attention = attention_pass(pass);
  const Index tokens = static_cast<Index>(input.tokens.size());
  const auto together =
      static_cast<std::size_t>(std::max(most_tokens / std::max(tokens, Index{1}), Index{1}));
  enter(parameters, input, pass, workspace);
  without.blocks.resize(1);
  auto& cache = cache_of(pass, 0, workspace);
  auto entering = entering_buffer.resize(tokens, config_.width);
  auto stream = workspace.stream.view();
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
    const auto& block = blocks_[layer];
    entering = stream;
    block.attend(parameters, input.offsets, attention, {}, cache, workspace.scratch, stream);
    while (!heads.empty() && heads[0].layer == static_cast<int>(layer)) {
      std::size_t count = 1;
      while (count < std::min(together, heads.size()) && heads[count].layer == heads[0].layer)
        ++count;
      auto streams = without.stream.resize(static_cast<Index>(count) * tokens, config_.width);
      block.attend_without_each(parameters, heads.first(count), entering, cache, workspace.scratch,
                                without.blocks[0], without.scratch, streams);
      block.feed_forward(parameters, attention, {}, without.blocks[0], without.scratch, streams);
      repeat(input.offsets, count, offsets);
      climb(parameters, offsets, pass, layer + 1, without);
      leave(parameters, offsets, pass.precision, without);
      told(heads.first(count), without.logits.view());
      heads = heads.subspan(count);
    }
    block.feed_forward(parameters, attention, {}, cache, workspace.scratch, stream);
  }
  leave(parameters, input.offsets, pass.precision, workspace);
}

template <class Real>
void Model<Real>::backward(const Parameters<Real>& parameters, PackedTokens input,
                           const ModelPass<Real>& pass, ConstMatrixRef<Real> d_logits,
                           ModelWorkspace<Real>& workspace, Parameters<Real>* gradient) const {
  if (!pass.backward_follows)
    throw Error(ExitCode::internal, "a backward pass that the forward pass was not told of");
  const Index tokens = static_cast<Index>(input.tokens.size());
  const Dropout stream_dropout = dropout(pass, config_.dropout);
  AttentionPass<Real> attention = attention_pass(pass);
  output_backward(parameters, input.offsets, pass.precision, d_logits, workspace, gradient);
  const auto d_hidden = workspace.d_hidden.view();
  auto d_stream = workspace.d_stream.zeros(tokens, config_.width);
  if (final_norm_)
    final_norm_->backward(parameters, workspace.final_norm, d_hidden, d_stream, gradient);
  else
    d_stream = d_hidden;

  const Index sequences = static_cast<Index>(input.offsets.size()) - 1;
  auto gates = workspace.gate_gradients.zeros(pass.gate_gradients ? sequences : 0, heads().total());
  for (int layer = config_.layers() - 1; layer >= 0; --layer) {
    const auto l = static_cast<std::size_t>(layer);
    const Index first = heads().first_index(config_.site, layer);
    const Index count = heads().layers(config_.site)[l];
    attention.input_gradient = layer > 0;
    blocks_[l].backward(parameters, input.offsets, attention, stream_dropout, workspace.blocks[l],
                        workspace.scratch, d_stream, gradient, gates.middleCols(first, count));
  }
  if (!gradient) return;
  stream_dropout.apply<Real>(d_stream, dropout_place(config_.site, 0, DropoutPlace::embedding),
                             pass.first_row);
  positions_->embeddings_backward(input.offsets, d_stream, *gradient);
  auto d_table = gradient->view(embedding_);
  const Real scale =
      config_.scale_embedding ? std::sqrt(static_cast<Real>(config_.width)) : Real{1};
  for (Index i = 0; i < tokens; ++i)
    d_table.row(input.tokens[static_cast<std::size_t>(i)]) += d_stream.row(i) * scale;
}

template <class Real>
Model<Real> Model<Real>::without(const std::vector<HeadId>& removed) const {
  ModelConfig smaller = config_;
  for (const auto& id : removed) {
    if (!is_present(id))
      throw Error(ExitCode::bad_data,
                  fmt::format("cannot remove {}: {}", to_string(id),
                              heads().contains(id) ? "it was removed before"
                                                   : "there is no such head in this model"));
    std::erase(smaller.heads[static_cast<std::size_t>(id.layer)], id.head);
  }
  return Model(std::move(smaller));
}

template <class Real>
Parameters<Real> Model<Real>::shrink(const Parameters<Real>& parameters,
                                     const Model& smaller) const {
  Parameters<Real> values(smaller.layout());
  for (const auto& entry : smaller.layout().entries()) {
    const auto& block = layout_->at(entry.name).block;
    if (block.rows == entry.block.rows && block.cols == entry.block.cols)
      values.view(entry.block) = parameters.view(block);
  }
  for (int layer = 0; layer < config_.layers(); ++layer)
    attention(config_.site, layer)
        .copy_heads(parameters, smaller.attention(config_.site, layer), values);
  return values;
}

template class Model<float>;
template class Model<double>;

}  // namespace headcount
