#include "run/work.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headcount {
namespace {

constexpr std::array<std::string_view, kFeatures> kNames{"product-flops",     "product-elements",
                                                         "products",          "head-flops",
                                                         "head-elements",     "pattern-elements",
                                                         "pattern-rows",      "slices",
                                                         "exponentials",      "error-functions",
                                                         "tangents",          "elements",
                                                         "random-numbers",    "parameter-elements",
                                                         "updates",           "tokens",
                                                         "sequences",         "steps",
                                                         "observed-elements", "logarithms",
                                                         "bfloat16-flops"};

// c [m, n] = a [m, k] · b [k, n]
void add_product(Work& work, double m, double k, double n) {
  if (m == 0 || k == 0 || n == 0) return;
  work[Feature::product_flops] += 2 * m * k * n;
  work[Feature::product_elements] += m * k + k * n + m * n;
  work[Feature::products] += 1;
}

// With its slope, which is all that the backward pass needs.
void add_activation(Work& work, const ModelShape& model, double numbers) {
  switch (model.activation) {
    case Activation::relu:
      work[Feature::elements] += numbers;
      break;
    case Activation::gelu:
      work[Feature::error_functions] += numbers;
      break;
    case Activation::gelu_tanh:
      work[Feature::tangents] += numbers;
      break;
  }
}

// Visits of each entry of [N, D] by a norm, forward and backward; rms takes no mean.
double norm_visits(const ModelShape& model) { return model.norm_kind == NormKind::rms ? 2 : 3; }
double norm_backward_visits(const ModelShape& model) {
  return model.norm_kind == NormKind::rms ? 3 : 4;
}

// The same by what surrounds a sublayer: its norm, and the residual sum with what scales it.
double around_visits(const ModelShape& model, const ModelShape::Layer& layer) {
  const double norm = layer.norm == NormPlacement::none ? 1 : norm_visits(model);  // or a copy
  switch (layer.residual) {
    case Residual::plain:
    case Residual::none:
      return norm + 1;
    case Residual::scaled_stream:
      return norm + (layer.norm == NormPlacement::pre ? 3 : 2);
    case Residual::scaled_sublayer:
      return norm + 3;
  }
  return 0;
}
double around_backward_visits(const ModelShape& model, const ModelShape::Layer& layer,
                              bool training) {
  const double norm = layer.norm == NormPlacement::none ? 1 : norm_backward_visits(model);
  switch (layer.residual) {
    case Residual::plain:
    case Residual::none:
      return norm + 1;
    case Residual::scaled_stream:
      return norm + (training ? 4 : 2);
    case Residual::scaled_sublayer:
      return norm + (training ? 3 : 2);
  }
  return 0;
}

// Pairs of a query and a key that it sees.
double visible_pairs(const ModelShape& model, const BatchShape& batch) {
  return model.causal ? (batch.squares + batch.tokens) / 2 : batch.squares;
}

// The products of a head and what stands between them: `products` of T × T × K, of which `scores`
// are the score function's; `visits` of the pattern, `vectors` of [T, K] read or written.
struct Attending {
  double products, scores, visits, vectors, dropouts;
};
constexpr Attending kForward{2, 1, 1, 4, 1}, kBackward{5, 2, 2, 7, 1};

void add_heads(Work& work, const ModelShape& model, const ModelShape::Layer& layer,
               const BatchShape& batch, double share, const Attending& attending, bool training) {
  const double heads = layer.heads * share, columns = layer.columns() * share;
  const double visible = visible_pairs(model, batch);
  const double pairs = visible + batch.tokens * model.rows_beside;
  work[Feature::head_flops] += attending.products * 2 * pairs * columns;
  work[Feature::head_elements] += attending.vectors * batch.tokens * columns;
  const int hooks = model.adds_to_scores + model.adds_to_contexts;  // visit the pattern as well
  work[Feature::pattern_elements] += (1 + hooks) * attending.visits * visible * heads;
  work[Feature::pattern_rows] += batch.tokens * heads;
  work[Feature::slices] += batch.sequences * heads;
  work[Feature::exponentials] += visible * heads;
  if (model.takes_tangents) work[Feature::tangents] += attending.scores * visible * columns;
  if (model.turns_vectors) work[Feature::elements] += 2 * batch.tokens * columns;
  if (training && model.pattern_dropout > 0)
    work[Feature::random_numbers] += attending.dropouts * visible * heads;
}

// Two products and the running sums between them.
void add_average(Work& work, const ModelShape& model, double tokens) {
  if (!model.average) return;
  for (int i = 0; i < 2; ++i) add_product(work, tokens, model.width, model.width);
  work[Feature::elements] += 3 * tokens * model.width;
}

void add_stream_dropout(Work& work, const ModelShape& model, double tokens) {
  if (model.dropout == 0) return;
  double places = 1;  // the embeddings
  for (const auto& layer : model.layers) places += layer.sublayers();
  work[Feature::random_numbers] += places * tokens * model.width;
}

double batches_of(const BatchShape& examples, double batch_tokens) {
  if (examples.sequences == 0) return 0;
  const double fit = std::floor(batch_tokens * examples.sequences / examples.tokens);
  return std::ceil(examples.sequences / std::max(fit, 1.0));
}

}  // namespace

std::string_view name_of(Feature feature) { return kNames.at(static_cast<std::size_t>(feature)); }

std::array<Feature, kFeatures> all_features() {
  std::array<Feature, kFeatures> features{};
  for (std::size_t i = 0; i < kFeatures; ++i) features.at(i) = static_cast<Feature>(i);
  return features;
}

Work& Work::operator+=(const Work& other) {
  for (std::size_t i = 0; i < kFeatures; ++i) amounts_[i] += other.amounts_[i];
  return *this;
}

ModelShape ModelShape::of(const ModelConfig& config) {
  ModelShape shape;
  shape.vocabulary = static_cast<double>(config.vocabulary);
  shape.longest = static_cast<double>(config.longest);
  shape.classes = static_cast<double>(config.classes);
  shape.width = static_cast<double>(config.width);
  for (int layer = 0; layer < config.layers(); ++layer) {
    const auto l = static_cast<std::size_t>(layer);
    const auto attention = config.attention(layer);
    shape.layers.push_back(
        {static_cast<double>(attention.heads.size()), static_cast<double>(attention.head_width),
         static_cast<double>(attention.key_value_heads().size()),
         static_cast<double>(attention.group), static_cast<double>(config.feed_forward.at(l)),
         config.norm.at(l), config.residual.at(l)});
  }
  shape.causal = config.mask == AttentionMask::causal;
  shape.final_norm = config.final_norm();
  shape.norm_kind = config.norm_kind;
  shape.untied_output = !config.tied_output;
  shape.activation = config.activation;
  shape.dropout = config.dropout;
  shape.pattern_dropout = config.pattern_dropout;
  shape.sharing = config.sharing;
  shape.average = config.average;
  const auto& score = score_functions().at(config.score);
  shape.takes_tangents = score.takes_tangents;
  AttentionConfig one_column;
  one_column.head_width = 1;
  one_column.heads = {0};
  ParameterLayout score_layout;
  score.make<float>(one_column, "one", score_layout);
  shape.score_parameters = static_cast<double>(score_layout.count());
  // A table has one row per position or a fixed number of rows: two short ones tell which, and no
  // long table need be made.
  const auto& entry = position_encodings().at(config.positions);
  auto short_config = position_config(config);
  ParameterLayout one_layout, two_layout;
  short_config.longest = 1;
  const auto one = entry.make<float>(short_config, one_layout);
  short_config.longest = 2;
  const auto two = entry.make<float>(short_config, two_layout);
  const auto first = static_cast<double>(one_layout.count()),
             second = static_cast<double>(two_layout.count());
  shape.position_parameters = first + (shape.longest - 1) * (second - first);
  shape.turns_vectors = one->acts_on_vectors();
  shape.adds_to_scores = one->acts_on_scores();
  shape.adds_to_contexts = one->acts_on_contexts();
  shape.rows_beside = static_cast<double>(one->rows_beside(config.longest));
  return shape;
}

double ModelShape::heads() const {
  double total = 0;
  for (const auto& layer : layers) total += layer.heads;
  return total;
}

double ModelShape::parameters() const {
  double total = vocabulary * width + position_parameters;
  const double norm = (norm_kind == NormKind::rms ? 1 : 2) * width;
  for (const auto& layer : layers) {
    const double inner = layer.feed_forward;
    total += (width + 1) * projected(layer) + (width + score_parameters) * layer.columns() + width +
             (average ? 2 * width * width : 0);
    if (inner > 0) total += 2 * width * inner + inner + width;
    if (layer.norm != NormPlacement::none) total += layer.sublayers() * norm;
    if (layer.residual == Residual::scaled_stream) total += layer.sublayers() * width;
    if (layer.residual == Residual::scaled_sublayer) total += layer.sublayers();
  }
  if (final_norm) total += norm;
  if (classes > 0)
    total += (width + 1) * classes;
  else if (untied_output)
    total += width * vocabulary;
  return total;
}

ModelShape ModelShape::without(double share) const {
  auto smaller = *this;
  for (auto& layer : smaller.layers) {
    layer.heads *= 1 - share;
    layer.key_value_heads *= 1 - std::pow(share, layer.group);
  }
  return smaller;
}

namespace {

// The parts of a forward pass: to the first layer, the halves of a layer, from the last layer on.
Work enter_work(const ModelShape& model, const BatchShape& batch) {
  Work work;
  work[Feature::tokens] += batch.tokens;
  work[Feature::sequences] += batch.sequences;
  work[Feature::elements] += 2 * batch.tokens * model.width;  // embeddings, positions
  return work;
}

Work attend_work(const ModelShape& model, const ModelShape::Layer& layer, const BatchShape& batch,
                 HeadsAtWork heads, bool training) {
  const double tokens = batch.tokens, width = model.width, columns = layer.columns();
  Work work;
  work[Feature::elements] += around_visits(model, layer) * tokens * width;
  const double projected = model.projected(layer);
  add_product(work, tokens, width, projected);
  add_heads(work, model, layer, batch, heads.observed ? 1 : heads.share, kForward, training);
  add_product(work, tokens, columns, width);
  add_average(work, model, tokens);
  work[Feature::elements] += tokens * (projected + width);           // biases
  if (heads.share < 1) work[Feature::elements] += tokens * columns;  // gates
  return work;
}

Work feed_forward_work(const ModelShape& model, const ModelShape::Layer& layer, double tokens) {
  const double width = model.width, inner = layer.feed_forward;
  Work work;
  if (inner == 0) return work;
  work[Feature::elements] += around_visits(model, layer) * tokens * width;
  add_product(work, tokens, width, inner);
  add_activation(work, model, tokens * inner);
  add_product(work, tokens, inner, width);
  work[Feature::elements] += tokens * (inner + width);
  return work;
}

double output_rows(const ModelShape& model, const BatchShape& batch) {
  return model.classes > 0 ? batch.sequences : batch.tokens;
}

Work leave_work(const ModelShape& model, const BatchShape& batch) {
  Work work;
  work[Feature::elements] +=
      (model.final_norm ? norm_visits(model) : 1) * batch.tokens * model.width;
  if (model.classes > 0) work[Feature::elements] += batch.tokens * model.width;  // their mean
  add_product(work, output_rows(model, batch), model.width, model.outputs());
  work[Feature::exponentials] += batch.targets * model.outputs();
  work[Feature::elements] += 2 * batch.targets * model.outputs();
  return work;
}

}  // namespace

Work forward_work(const ModelShape& model, const BatchShape& batch, HeadsAtWork heads,
                  bool training) {
  Work work = enter_work(model, batch);
  if (training) add_stream_dropout(work, model, batch.tokens);
  for (const auto& layer : model.layers)
    work += attend_work(model, layer, batch, heads, training) +
            feed_forward_work(model, layer, batch.tokens);
  return work + leave_work(model, batch);
}

Work backward_work(const ModelShape& model, const BatchShape& batch, HeadsAtWork heads,
                   bool training) {
  const double tokens = batch.tokens, width = model.width;
  Work work;
  const double rows = output_rows(model, batch), outputs = model.outputs();
  work[Feature::elements] += rows * outputs;  // from the loss
  add_product(work, rows, outputs, width);
  if (training) add_product(work, outputs, rows, width);
  if (model.classes > 0) work[Feature::elements] += tokens * width;  // to all tokens of a sequence
  work[Feature::elements] +=
      (1 + (model.final_norm ? norm_backward_visits(model) : 1)) * tokens * width;
  for (auto at = model.layers.rbegin(); at != model.layers.rend(); ++at) {
    const auto& layer = *at;
    const double columns = layer.columns(), projected = model.projected(layer),
                 inner = layer.feed_forward;
    work[Feature::elements] +=
        layer.sublayers() * around_backward_visits(model, layer, training) * tokens * width;
    add_product(work, tokens, width, inner);
    work[Feature::elements] += tokens * inner;  // the slope
    add_product(work, tokens, inner, width);
    add_product(work, tokens, width, columns);
    // A pass for gates alone ends at those of the lowest layer.
    if (!training && &layer == &model.layers.front()) break;
    add_heads(work, model, layer, batch, heads.share, kBackward, training);
    // What is shared is set to zero and added up.
    if (projected < 3 * columns) work[Feature::elements] += tokens * (projected + 3 * columns);
    add_product(work, tokens, projected, width);
    add_average(work, model, tokens);
    if (!training) continue;
    if (model.average)
      for (int i = 0; i < 2; ++i) add_product(work, width, tokens, width);
    add_product(work, inner, tokens, width);
    add_product(work, width, tokens, inner);
    add_product(work, columns, tokens, width);
    add_product(work, width, tokens, projected);
    work[Feature::elements] +=
        tokens * (projected + width + (inner > 0 ? inner + width : 0));  // biases
  }
  if (training) {
    add_stream_dropout(work, model, tokens);
    work[Feature::elements] += tokens * width;  // embeddings
  }
  return work;
}

Work step_work(const ModelShape& model, const StepShape& step, HeadsAtWork heads) {
  const double shards = std::min(step.shards, step.batch.sequences);
  const double parameters = model.parameters();
  const auto shard = (1 / shards) * step.batch;
  Work work =
      shards * (forward_work(model, shard, heads, true) + backward_work(model, shard, heads, true));
  // Every shard's gradient is set to zero, and added but for the first; the sum's norm is taken.
  work[Feature::parameter_elements] += (step.shards + 3 * (step.shards - 1) + 1) * parameters;
  work[Feature::updates] += parameters;
  work[Feature::steps] += 1;
  if (step.precision == Precision::bfloat16)
    std::swap(work[Feature::bfloat16_flops], work[Feature::product_flops]);
  const double seen = visible_pairs(model, step.batch) * model.heads();
  Work record;
  record[Feature::elements] +=
      2 * step.batch.tokens * model.width * static_cast<double>(model.layers.size());
  record[Feature::pattern_elements] += 2 * seen;
  record[Feature::exponentials] += seen;  // logarithms, as fast
  return work + (1 / step.record_every) * record;
}

Work pass_work(const ModelShape& model, const BatchShape& examples, HeadsAtWork heads,
               double batch_tokens) {
  const double batches = batches_of(examples, batch_tokens);
  if (batches == 0) return {};
  return batches * forward_work(model, (1 / batches) * examples, heads);
}

Work ablation_work(const ModelShape& model, const BatchShape& examples, HeadsAtWork heads,
                   double batch_tokens) {
  const double batches = batches_of(examples, batch_tokens);
  if (batches == 0) return {};
  const auto batch = (1 / batches) * examples;
  const double fit = std::max(std::floor(batch_tokens / batch.tokens), 1.0);
  Work work = forward_work(model, batch, heads);
  for (auto layer = model.layers.rbegin(); layer != model.layers.rend(); ++layer) {
    const double ablated = heads.share * layer->heads;
    if (ablated > 0) {
      const double runs = std::ceil(ablated / fit), copies = ablated / runs;
      const auto repeated = copies * batch;
      Work each = feed_forward_work(model, *layer, repeated.tokens) + leave_work(model, repeated);
      each[Feature::elements] +=
          (4 + (layer->norm == NormPlacement::post ? norm_visits(model) : 0)) * repeated.tokens *
          model.width;
      for (auto next = layer.base(); next != model.layers.end(); ++next)
        each += attend_work(model, *next, repeated, heads, false) +
                feed_forward_work(model, *next, repeated.tokens);
      work += runs * each;
      Work share;
      add_product(share, batch.tokens, layer->head_width, model.width);
      work += ablated * share;
    }
  }
  return batches * work;
}

Work gate_gradient_work(const ModelShape& model, const BatchShape& examples, HeadsAtWork heads,
                        double batch_tokens) {
  const double batches = batches_of(examples, batch_tokens);
  if (batches == 0) return {};
  const auto batch = (1 / batches) * examples;
  return batches * (forward_work(model, batch, {heads.share, true}) +
                    backward_work(model, batch, heads, false));
}

Work observation_work(std::string_view measure, const ModelShape& model,
                      const BatchShape& examples) {
  const double heads = model.heads();
  Work work;
  work[Feature::observed_elements] += examples.squares * heads;
  if (measure.starts_with("entropy"))
    work[Feature::logarithms] += heads * visible_pairs(model, examples);
  return work;
}

}  // namespace headcount
