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

// Visits of each entry of [N, D]: by a layer norm, forward and backward.
constexpr double kNorm = 3, kNormBackward = 4;

// The products of a head and what stands between them: `products` of T × T × K, `visits` of the
// pattern, `vectors` of [T, K] read or written.
struct Attending {
  double products, visits, vectors, dropouts;
};

void add_heads(Work& work, const ModelShape& model, const ModelShape::Layer& layer,
               const BatchShape& batch, double share, const Attending& attending, bool training) {
  const double heads = layer.heads * share, columns = layer.columns() * share;
  const double visible = model.causal ? (batch.squares + batch.tokens) / 2 : batch.squares;
  work[Feature::head_flops] += attending.products * 2 * visible * columns;
  work[Feature::head_elements] += attending.vectors * batch.tokens * columns;
  work[Feature::pattern_elements] +=
      (attending.visits * visible + (model.adds_to_scores ? batch.squares : 0)) * heads;
  work[Feature::pattern_rows] += batch.tokens * heads;
  work[Feature::slices] += batch.sequences * heads;
  work[Feature::exponentials] += visible * heads;
  if (model.turns_vectors) work[Feature::elements] += 2 * batch.tokens * columns;
  if (training && model.pattern_dropout > 0)
    work[Feature::random_numbers] += attending.dropouts * visible * heads;
}

void add_stream_dropout(Work& work, const ModelShape& model, double tokens) {
  if (model.dropout > 0)
    work[Feature::random_numbers] +=
        (1 + 2 * static_cast<double>(model.layers.size())) * tokens * model.width;
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
  shape.feed_forward = static_cast<double>(config.feed_forward);
  for (std::size_t layer = 0; layer < config.heads.size(); ++layer)
    shape.layers.push_back({static_cast<double>(config.heads[layer].size()),
                            static_cast<double>(config.head_widths[layer])});
  shape.causal = config.mask == AttentionMask::causal;
  shape.final_norm = config.norm == NormPlacement::pre;
  shape.untied_output = !config.tied_output;
  shape.activation = config.activation;
  shape.dropout = config.dropout;
  shape.pattern_dropout = config.pattern_dropout;
  // A table has one row per position or a fixed number of rows: two short ones tell which, and no
  // long table need be made.
  const auto& entry = position_encodings().at(config.positions);
  ParameterLayout one_layout, two_layout;
  const auto one = entry.make<float>({config.width, 1}, one_layout);
  const auto two = entry.make<float>({config.width, 2}, two_layout);
  const auto first = static_cast<double>(one_layout.count()),
             second = static_cast<double>(two_layout.count());
  shape.position_parameters = first + (shape.longest - 1) * (second - first);
  shape.turns_vectors = one->acts_on_vectors();
  shape.adds_to_scores = one->acts_on_scores();
  return shape;
}

double ModelShape::heads() const {
  double total = 0;
  for (const auto& layer : layers) total += layer.heads;
  return total;
}

double ModelShape::parameters() const {
  double total = vocabulary * width + position_parameters;
  for (const auto& layer : layers) {
    const double attention = 4 * width * layer.columns() + 3 * layer.columns() + width;
    const double between = 2 * width * feed_forward + feed_forward + width;
    total += attention + between + 4 * width;
  }
  if (final_norm) total += 2 * width;
  if (classes > 0)
    total += (width + 1) * classes;
  else if (untied_output)
    total += width * vocabulary;
  return total;
}

ModelShape ModelShape::without(double share) const {
  auto smaller = *this;
  for (auto& layer : smaller.layers) layer.heads *= 1 - share;
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
  work[Feature::elements] += (kNorm + 1) * tokens * width;  // with the residual sum
  add_product(work, tokens, width, 3 * columns);
  add_heads(work, model, layer, batch, heads.observed ? 1 : heads.share, {2, 1, 4, 1}, training);
  add_product(work, tokens, columns, width);
  work[Feature::elements] += tokens * (3 * columns + width);         // biases
  if (heads.share < 1) work[Feature::elements] += tokens * columns;  // gates
  return work;
}

Work feed_forward_work(const ModelShape& model, double tokens) {
  const double width = model.width, inner = model.feed_forward;
  Work work;
  work[Feature::elements] += (kNorm + 1) * tokens * width;
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
  work[Feature::elements] += (model.final_norm ? kNorm : 1) * batch.tokens * model.width;
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
    work +=
        attend_work(model, layer, batch, heads, training) + feed_forward_work(model, batch.tokens);
  return work + leave_work(model, batch);
}

Work backward_work(const ModelShape& model, const BatchShape& batch, HeadsAtWork heads,
                   bool training) {
  const double tokens = batch.tokens, width = model.width, inner = model.feed_forward;
  Work work;
  const double rows = output_rows(model, batch), outputs = model.outputs();
  work[Feature::elements] += rows * outputs;  // from the loss
  add_product(work, rows, outputs, width);
  if (training) add_product(work, outputs, rows, width);
  if (model.classes > 0) work[Feature::elements] += tokens * width;  // to all tokens of a sequence
  work[Feature::elements] += (1 + (model.final_norm ? kNormBackward : 1)) * tokens * width;
  for (auto at = model.layers.rbegin(); at != model.layers.rend(); ++at) {
    const auto& layer = *at;
    const double columns = layer.columns();
    work[Feature::elements] += 2 * (kNormBackward + 1) * tokens * width;
    add_product(work, tokens, width, inner);
    work[Feature::elements] += tokens * inner;  // the slope
    add_product(work, tokens, inner, width);
    add_product(work, tokens, width, columns);
    // A pass for gates alone ends at those of the lowest layer.
    if (!training && &layer == &model.layers.front()) break;
    add_heads(work, model, layer, batch, heads.share, {5, 2, 7, 1}, training);
    add_product(work, tokens, 3 * columns, width);
    if (!training) continue;
    add_product(work, inner, tokens, width);
    add_product(work, width, tokens, inner);
    add_product(work, columns, tokens, width);
    add_product(work, width, tokens, 3 * columns);
    work[Feature::elements] += tokens * (3 * columns + width + inner + width);  // biases
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
  work[Feature::elements] += 2 * step.batch.tokens * model.width *
                             static_cast<double>(model.layers.size()) / step.record_every;
  return work;
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
      Work each = feed_forward_work(model, repeated.tokens) + leave_work(model, repeated);
      each[Feature::elements] +=
          (4 + (model.final_norm ? 0 : kNorm)) * repeated.tokens * model.width;
      for (auto next = layer.base(); next != model.layers.end(); ++next)
        each += attend_work(model, *next, repeated, heads, false) +
                feed_forward_work(model, repeated.tokens);
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
    work[Feature::logarithms] +=
        heads * (model.causal ? (examples.squares + examples.tokens) / 2 : examples.squares);
  return work;
}

}  // namespace headcount
