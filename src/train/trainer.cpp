#include "train/trainer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "math/reduce.hpp"

namespace headcount {
namespace {

PackedTokens packed(const Batch& batch) { return {batch.input.tokens, batch.input.offsets}; }

TargetsPer outputs_per(const ModelConfig& model) {
  return model.classes > 0 ? TargetsPer::sequence : TargetsPer::token;
}

template <class Numbers>
bool all_finite(const Numbers& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

}  // namespace

std::span<const LayerSeries> layer_series() {
  static constexpr std::array kSeries{
      LayerSeries{"layer_activation_variance",
                  "variance of the residual stream after the layer, over tokens and width", "1",
                  &StepReport::layer_activation_variance},
      LayerSeries{
          "layer_attention_entropy",
          "mean over query positions and unmasked heads of -Σ_j p_j ln p_j, p before dropout",
          "nats", &StepReport::layer_attention_entropy},
      LayerSeries{"layer_softmax_saturation",
                  "mean over query positions and unmasked heads of Σ_j p_j (1 - p_j), p before "
                  "dropout; 0 is saturated",
                  "1", &StepReport::layer_softmax_saturation}};
  return kSeries;
}

template <class Real>
Trainer<Real>::Trainer(const Model<Real>& model, const Task& task, const TrainConfig& config,
                       const HeadTreatment<Real>& treatment, ThreadTeam& team,
                       Parameters<Real>& parameters)
    : model_(&model),
      task_(&task),
      config_(config),
      treatment_(&treatment),
      team_(&team),
      parameters_(&parameters),
      gradient_(model.layout()),
      optimizer_(config.optimizer, model.layout()) {
  for (int worker = 0; worker < team.size(); ++worker)
    workers_.push_back(
        {{}, Parameters<Real>(model.layout()), {}, {}, PatternSums<Real>(treatment)});
}

template <class Real>
ModelPass<Real> Trainer<Real>::pass_of(std::int64_t step, Index first_row) const {
  ModelPass<Real> pass;
  pass.treatment = treatment_;
  pass.training = true;
  pass.dropout_seed = config_.dropout_seed;
  pass.step = static_cast<std::uint32_t>(step);
  pass.first_row = first_row;
  pass.precision = config_.precision;
  return pass;
}

// Sums loss, gradient and what is recorded over shards. Each worker has one gradient of its own;
// that of the first shard becomes the sum, to which the others are added in their order.
template <class Real>
void Trainer<Real>::run_shards(const std::vector<Batch>& shards, std::int64_t step, bool recorded,
                               StepReport& report) {
  std::vector<Index> first_row;
  Index tokens = 0;
  std::int64_t targets = 0;
  for (const auto& shard : shards) {
    require_targets_per(outputs_per(model_->config()), shard.targets_per);
    first_row.push_back(tokens);
    tokens += shard.input.total();
    targets += shard.target_count();
  }
  const Real weight = static_cast<Real>(1.0 / static_cast<double>(targets));
  report.tokens = tokens;
  parameters_->round(config_.precision);
  const int layers = recorded ? model_->config().layers() : 0;
  report.layer_activation_variance.assign(static_cast<std::size_t>(layers), 0.0);
  std::vector<typename PatternSums<Real>::Layer> patterns(static_cast<std::size_t>(layers));

  const auto work = [&](int piece, int which) {
    auto& worker = workers_[static_cast<std::size_t>(which)];
    const auto& shard = shards[static_cast<std::size_t>(piece)];
    worker.gradient.set_zero();
    if (shard.input.count() == 0) return;
    auto pass = pass_of(step, first_row[static_cast<std::size_t>(piece)]);
    pass.activation_variance = recorded;
    worker.patterns.begin(layers);
    if (recorded) pass.observer = &worker.patterns;
    model_->forward(*parameters_, packed(shard), pass, worker.workspace);
    worker.weights.assign(shard.targets.size(), weight);
    auto logits = worker.workspace.logits.view();
    cross_entropy<Real>(logits, shard.targets, worker.weights.data(), worker.rows);
    model_->backward(*parameters_, packed(shard), pass, logits, worker.workspace, &worker.gradient);
  };
  const auto add = [&](int piece, int which) {
    auto& worker = workers_[static_cast<std::size_t>(which)];
    const auto& shard = shards[static_cast<std::size_t>(piece)];
    if (piece == 0)
      std::swap(gradient_, worker.gradient);
    else
      kernels<Real>().add_scaled(1, worker.gradient.data(), gradient_.data(), gradient_.size());
    if (shard.input.count() == 0) return;
    double nll = 0;
    for (const auto& row : worker.rows) nll += static_cast<double>(row.nll);
    report.loss += nll / static_cast<double>(targets);
    const double share = static_cast<double>(shard.input.total()) / static_cast<double>(tokens);
    for (std::size_t layer = 0; layer < patterns.size(); ++layer) {
      report.layer_activation_variance[layer] +=
          share * worker.workspace.activation_variance[layer];
      patterns[layer] += worker.patterns.layers()[layer];
    }
  };
  team_->run(static_cast<int>(shards.size()), work, add);
  for (const auto& layer : patterns) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    report.layer_attention_entropy.push_back(layer.rows > 0 ? layer.entropy / layer.rows : kNone);
    report.layer_softmax_saturation.push_back(layer.rows > 0 ? layer.saturation / layer.rows
                                                             : kNone);
  }
}

template <class Real>
void Trainer<Real>::measure_gradient(StepReport& report) const {
  double outside = 0;
  std::vector<double> squares(static_cast<std::size_t>(model_->config().layers()), 0.0);
  for (const auto& entry : model_->layout().entries()) {
    const auto view = gradient_.view(entry.block);
    const double square = inner_product<Real>(view, view);
    (entry.layer < 0 ? outside : squares[static_cast<std::size_t>(entry.layer)]) += square;
  }
  double total = outside;
  for (const double square : squares) {
    total += square;
    report.layer_gradient_norm.push_back(std::sqrt(square));
  }
  report.gradient_norm = std::sqrt(total);
}

template <class Real>
StepReport Trainer<Real>::step(std::int64_t step) {
  throw_if_interrupted();
  StepReport report;
  report.step = step;
  report.learning_rate = config_.schedule.at(step);
  const Batch batch = task_->training_batch(config_.data_seed, step, config_.batch_tokens);
  const auto shards = cut_into_shards(batch, config_.shards);
  const bool recorded = step % config_.record_every == 0 || step == 1 || step == config_.steps;
  run_shards(shards, step, recorded, report);
  measure_gradient(report);
  if (!std::isfinite(report.loss) || !std::isfinite(report.gradient_norm))
    report_divergence(shards, report);
  const double scale = config_.clip > 0 && report.gradient_norm > config_.clip
                           ? config_.clip / report.gradient_norm
                           : 1.0;
  optimizer_.update(*parameters_, gradient_, scale, report.learning_rate, step, *team_);
  return report;
}

template <class Real>
void Trainer<Real>::report_divergence(const std::vector<Batch>& shards, const StepReport& report) {
  StepReport again;
  run_shards(shards, report.step, true, again);
  const auto first_bad = [](const std::vector<double>& layers) {
    return std::find_if(layers.begin(), layers.end(), [](double x) { return !std::isfinite(x); }) -
           layers.begin();
  };
  std::string where;
  if (!all_finite(again.layer_activation_variance)) {
    where = fmt::format("the activations of layer {} are the first that are not finite",
                        first_bad(again.layer_activation_variance));
  } else if (!std::isfinite(report.loss)) {
    where = "all layers' activations are finite: the loss itself overflows";
  } else if (!all_finite(report.layer_gradient_norm)) {
    // Backward runs from the top: the highest bad layer is where it began.
    const auto& norms = report.layer_gradient_norm;
    const auto bad =
        std::find_if(norms.rbegin(), norms.rend(), [](double x) { return !std::isfinite(x); });
    where = fmt::format("the loss is finite, the gradient of layer {} is the first that is not",
                        norms.rend() - bad - 1);
  } else {
    where = "the gradient of the embeddings or the output is not finite";
  }
  throw TrainingDiverged(
      fmt::format("training diverged at step {} (loss {}): {}; a smaller "
                  "train.learning-rate, a longer train.warm-up or train.clip "
                  "may help",
                  report.step, report.loss, where));
}

template class Trainer<float>;
template class Trainer<double>;

}  // namespace headcount
