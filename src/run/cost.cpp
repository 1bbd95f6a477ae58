#include "run/cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include "prune/curve.hpp"
#include "run/calibration.hpp"
#include "run/config.hpp"
#include "task/data_source.hpp"

namespace headcount {
namespace {

constexpr double kEvaluatorBatch = 2048;  // tokens; the default of Evaluator

double as_real(std::int64_t number) { return static_cast<double>(number); }

// Share of the heads that a mask keeps from working; a uniform pattern still has to be applied.
double masked_share(const Settings& settings, bool training) {
  const auto mask = mask_config(settings, training);
  if (mask.heads.empty() || mask.kind == MaskKind::uniform) return 0;
  return as_real(std::ssize(mask.heads)) / as_real(head_counts(settings).total());
}

// What `evaluate.examples` and its like leave of a split.
std::int64_t limited(std::int64_t have, std::int64_t wanted) {
  return wanted > 0 ? std::min(have, wanted) : have;
}

// The parts of a trial's cost that its stages share.
class TrialModel {
 public:
  TrialModel(const Settings& settings, const TaskSizes& sizes)
      : settings_(settings),
        sizes_(sizes),
        train_(train_config(settings)),
        config_(model_config(settings, sizes.vocabulary, sizes.longest, sizes.classes)),
        model_(ModelShape::of(config_)),
        at_work_{1 - masked_share(settings, false)},
        names_(settings.texts("measure.measures")),
        during_(settings.texts("measure.during-training")),
        methods_(settings.texts("prune.methods")) {}

  const ModelShape& shape() const { return model_; }
  const TrainConfig& training() const { return train_; }

  Work steps() const {
    StepShape step;
    step.batch = training_batch();
    step.shards = train_.shards;
    step.precision = train_.precision;
    step.record_every = as_real(train_.record_every);
    return as_real(train_.steps) * step_work(model_, step, training_heads());
  }

  Work validations() const {
    const HeadsAtWork heads = training_heads();
    auto each = pass_work(model_, examples(SplitName::validation, "evaluate.examples"), heads);
    each += measures(during_, examples(SplitName::validation, "measure.examples"), heads);
    return as_real(validation_count()) * each;
  }

  Work evaluate() const {
    Work work;
    const bool masked = !mask_config(settings_, false).heads.empty();
    if (masked && settings_.is("mask.kind", "mean"))
      work += pass_work(model_, examples(SplitName::validation, "measure.examples"));
    for (const auto split : {SplitName::validation, SplitName::test}) {
      const auto scored = examples(split, "evaluate.examples");
      work += pass_work(model_, scored, at_work_);
      if (masked) work += pass_work(model_, scored);
      const auto generating = limited(examples_of(split), settings_.integer("evaluate.generation"));
      if (settings_.integer("evaluate.generation") > 0)
        work += pass_work(model_, as_real(generating) * prefixes(sizes_.example), at_work_);
    }
    return work;
  }

  Work measure() const {
    const auto split = measured_split();
    auto work = measures(names_, examples(split, "measure.examples"), at_work_);
    if (const auto kept = kept_patterns(); kept > 0) {
      const auto seen = as_real(kept) * sizes_.example;
      work += pass_work(model_, seen, {at_work_.share, true});
      work[Feature::observed_elements] += seen.squares * model_.heads();
    }
    return work;
  }

  Work prune() const {
    Work work;
    if (methods_.empty() || prunable() == 0) return work;
    const auto scoring = examples(SplitName::validation, "prune.examples");
    for (const auto& method : methods_) {
      work += order(method, scoring);
      work += as_real(orders(method)) * curve() + latency();
    }
    return work;
  }

  std::int64_t validation_count() const {
    if (sizes_.validation_examples == 0 || train_.steps == 0) return 0;
    const auto every = settings_.integer("train.validate-every");
    return every > 0 ? (train_.steps + every - 1) / every : 1;
  }

  double most_bytes(int threads) const {
    const double stages = std::max({training_bytes(threads), evaluation_bytes(threads),
                                    measure_bytes(threads), prune_bytes(threads)});
    // What one stage frees lies in pieces that serve the next in part only; a fifth was seen.
    constexpr double kPieces = 1.2;
    // Of libraries: code that oneDNN makes at first use, its packed matrices, HDF5's chunks.
    constexpr double kLibraries = 12e6;
    return kPieces * std::max(data_bytes() + stages + result_bytes(), making_bytes()) + kLibraries;
  }

 private:
  HeadsAtWork training_heads() const { return {1 - masked_share(settings_, true)}; }

  SplitName measured_split() const { return parse_split(settings_.text("measure.split")); }

  std::int64_t examples_of(SplitName split) const {
    return split == SplitName::test ? sizes_.test_examples : sizes_.validation_examples;
  }
  BatchShape examples(SplitName split, std::string_view limit) const {
    return as_real(limited(examples_of(split), settings_.integer(limit))) * sizes_.example;
  }

  // An example cut before each of its targets, the prefixes' lengths spread evenly.
  static BatchShape prefixes(const BatchShape& example) {
    const double length = example.tokens / example.sequences, cuts = example.targets;
    return {cuts, cuts * (length + 1) / 2, cuts * (length + 1) * (2 * length + 1) / 6, cuts};
  }

  BatchShape training_batch() const {
    const double fit = std::floor(as_real(train_.batch_tokens) / sizes_.window.tokens);
    return std::max(fit, 1.0) * sizes_.window;
  }

  std::int64_t kept_patterns() const {
    return std::min(settings_.integer("measure.patterns"), examples_of(measured_split()));
  }

  int prunable() const {
    return head_counts(settings_).total() -
           static_cast<int>(mask_config(settings_, false).heads.size());
  }

  int orders(std::string_view method) const {
    return method == "random" ? static_cast<int>(settings_.integer("prune.orders")) : 1;
  }

  std::vector<int> points() const { return removals(prunable(), settings_.real("prune.step")); }

  // Heads still at work when so many of those not masked were gated.
  HeadsAtWork without(int gone) const { return {at_work_.share - gone / model_.heads()}; }

  Work measures(const std::vector<std::string>& names, const BatchShape& scored,
                HeadsAtWork heads) const {
    Work work;
    bool any_pattern = false;
    for (const auto& name : names) {
      if (headcount::measures().at(name).pattern_float) {
        any_pattern = true;
        work += observation_work(name, model_, scored);
      } else if (name == "importance.ablation") {
        work += ablation_work(model_, scored, heads);
      } else {
        work += gate_gradient_work(model_, scored, heads);
      }
    }
    if (any_pattern) work += pass_work(model_, scored, {heads.share, true});
    return work;
  }

  Work order(std::string_view method, const BatchShape& scoring) const {
    if (method == "random") return {};
    if (method == "importance.ablation") return ablation_work(model_, scoring, at_work_);
    if (!method.ends_with("iterative")) return gate_gradient_work(model_, scoring, at_work_);
    Work work;
    const auto gone = points();
    for (std::size_t point = 1; point < gone.size(); ++point)
      work += gate_gradient_work(model_, scoring, without(gone[point - 1]));
    return work;
  }

  // Heads gone from the models that are built, as prune.build-at says.
  std::set<int> built() const {
    const auto gone = points();
    std::set<int> built;
    for (const auto percent : settings_.integers("prune.build-at"))
      built.insert(*std::min_element(gone.begin(), gone.end(), [&](int a, int b) {
        const double wanted = as_real(percent) / 100 * prunable();
        return std::abs(a - wanted) < std::abs(b - wanted);
      }));
    return built;
  }

  Work smaller_pass(int gone, const BatchShape& reporting) const {
    const double left = model_.heads() - gone;
    const HeadsAtWork rest{left > 0 ? without(gone).share * model_.heads() / left : 1};
    return pass_work(model_.without(gone / model_.heads()), reporting, rest);
  }

  // Masked at every point; physically smaller where that model is built.
  Work curve() const {
    const auto reporting = examples(SplitName::test, "prune.examples");
    Work work;
    for (const int heads : points()) work += pass_work(model_, reporting, without(heads));
    for (const int heads : built()) work += smaller_pass(heads, reporting);
    return work;
  }

  // Pairs of passes of 1, 16 and 64 sequences: as many as fit into about two seconds in all, here
  // at 60 GFLOP/s.
  Work latency() const {
    const double most = as_real(settings_.integer("prune.latency"));
    const auto models = built();
    Work work;
    if (most == 0) return work;
    const double room =
        2 * 60e9 / 3 / as_real(static_cast<std::int64_t>(models.size() * methods_.size()));
    constexpr double kFewest = 3, kWarmUp = 2;
    for (const int sequences : {1, 16, 64}) {
      if (sizes_.test_examples < sequences) break;
      const auto batch = sequences * sizes_.example;
      for (const int heads : models) {
        const auto pair = pass_work(model_, batch, at_work_) + smaller_pass(heads, batch);
        const double fit = room / pair.flops();
        if (sequences == 64 && fit < kFewest) continue;
        work += (kWarmUp + std::clamp(std::floor(fit), kFewest, std::max(most, kFewest))) * pair;
      }
    }
    return work;
  }

  // Memory. A number of a model is a float.
  static constexpr double kNumber = sizeof(float);

  double parameter_bytes() const { return kNumber * model_.parameters(); }

  // MultiHeadAttention::Cache for a token, without gated contexts.
  double attention_numbers(const ModelShape::Layer& layer) const {
    return model_.projected(layer) + layer.columns() + layer.heads +
           (model_.turns_vectors && model_.projected(layer) <= layer.columns() ? layer.columns()
                                                                               : 0) +
           (model_.average ? model_.width : 0);
  }

  // What ResidualSublayer keeps of a token: what its sublayer was given, of its norm, and what is
  // scaled.
  double sublayer_numbers(const ModelShape::Layer& layer) const {
    const bool keeps =
        layer.residual == Residual::scaled_sublayer ||
        (layer.residual == Residual::scaled_stream && layer.norm == NormPlacement::pre);
    return model_.width + (layer.norm == NormPlacement::none ? 0 : model_.width + 1) +
           (keeps ? model_.width : 0);
  }

  // Logits, and what is pooled for them, in a token's share.
  double output_numbers() const {
    if (model_.classes == 0) return model_.vocabulary;
    const double sequences = sizes_.window.sequences / sizes_.window.tokens;
    return sequences * (model_.classes + 2 * model_.width);
  }

  // ModelWorkspace over so many tokens.
  double workspace_bytes(double tokens, bool backward, bool gated) const {
    const double width = model_.width;
    double a_token = 2 * width + output_numbers() + width + 1, widest = 0, inner = 0;
    for (const auto& layer : model_.layers) {
      const double columns = layer.columns();
      a_token += layer.sublayers() * sublayer_numbers(layer) + 2 * layer.feed_forward +
                 attention_numbers(layer) + (gated ? columns : 0);
      widest = std::max(widest, columns + model_.projected(layer));
      inner = std::max(inner, layer.feed_forward);
    }
    if (model_.average) widest += width;
    a_token += width;  // scratch: what a sublayer gives
    double patterns = 1;
    if (backward) {
      a_token += 3 * width + inner + widest;
      patterns = 2;
    }
    a_token += 3;  // losses and weights of rows
    return kNumber * (tokens * a_token + patterns * model_.longest * model_.longest +
                      model_.longest * model_.rows_beside);
  }

  // AblationWorkspace: the copies without heads share the memory of one layer.
  double ablation_bytes(double tokens) const {
    const double width = model_.width;
    double widest = 0, inner = 0, kept = 0;
    for (const auto& layer : model_.layers) {
      widest = std::max(widest, attention_numbers(layer) + layer.columns());
      inner = std::max(inner, layer.feed_forward);
      kept = std::max(kept, 2 * sublayer_numbers(layer));
    }
    return kNumber * (tokens * (5 * width + kept + 2 * inner + output_numbers() + widest + 2) +
                      model_.longest * model_.longest);
  }

  double evaluator_bytes(const BatchShape& scored, int threads, bool backward, bool gated,
                         bool ablated = false) const {
    if (scored.sequences == 0) return 0;
    const double batch = std::min(std::max(kEvaluatorBatch, model_.longest), scored.tokens);
    constexpr double kPackedToken = 3 * sizeof(float), kPackedExample = 64;
    return threads * (workspace_bytes(batch, backward, gated) +
                      (ablated ? ablation_bytes(kEvaluatorBatch) : 0)) +
           kPackedToken * scored.tokens + kPackedExample * scored.sequences;
  }

  static bool needs_gradients(const std::vector<std::string>& names) {
    return std::ranges::any_of(names, [](const std::string& name) {
      return !headcount::measures().at(name).pattern_float && name != "importance.ablation";
    });
  }

  static bool ablates(const std::vector<std::string>& names) {
    return std::ranges::find(names, "importance.ablation") != names.end();
  }

  double training_bytes(int threads) const {
    if (train_.steps == 0) return parameter_bytes();
    const auto batch = training_batch();
    const double shard =
        std::ceil(batch.sequences / train_.shards) * batch.tokens / batch.sequences;
    double bytes =
        (4 + threads + (settings_.is("evaluate.parameters", "best") ? 1 : 0)) * parameter_bytes() +
        std::min(threads, train_.shards) * workspace_bytes(shard, true, training_heads().share < 1);
    bytes += evaluator_bytes(examples(SplitName::validation, "evaluate.examples"), threads, false,
                             training_heads().share < 1);
    if (!during_.empty())
      bytes += evaluator_bytes(examples(SplitName::validation, "measure.examples"), threads,
                               needs_gradients(during_), true, ablates(during_));
    return bytes;
  }

  double evaluation_bytes(int threads) const {
    return parameter_bytes() +
           std::max(evaluator_bytes(examples(SplitName::validation, "evaluate.examples"), threads,
                                    false, at_work_.share < 1),
                    evaluator_bytes(examples(SplitName::test, "evaluate.examples"), threads, false,
                                    at_work_.share < 1));
  }

  double measure_bytes(int threads) const {
    const auto scored = examples(measured_split(), "measure.examples");
    constexpr double kTerm = 2 * sizeof(double);
    return parameter_bytes() +
           evaluator_bytes(scored, threads, needs_gradients(names_), !names_.empty(),
                           ablates(names_)) +
           as_real(std::ssize(names_)) * kTerm * scored.sequences * model_.heads();
  }

  double prune_bytes(int threads) const {
    if (methods_.empty()) return 0;
    return 2 * parameter_bytes() +
           evaluator_bytes(examples(SplitName::validation, "prune.examples"), threads, true, true,
                           ablates(methods_)) +
           evaluator_bytes(examples(SplitName::test, "prune.examples"), threads, false, true);
  }

  // What a trial found stays until its file is written; patterns are laid out and packed for it
  // in half precision.
  double result_bytes() const {
    const double layers = as_real(std::ssize(model_.layers));
    const double series = 1 + as_real(std::ssize(layer_series())) / as_real(train_.record_every);
    double bytes = as_real(train_.steps) * (sizeof(StepReport) + series * layers * sizeof(double));
    const auto statistics = [&](SplitName split, std::string_view limit) {
      return sizeof(ExampleStatistics) * examples(split, limit).sequences;
    };
    bytes += statistics(SplitName::validation, "evaluate.examples") +
             statistics(SplitName::test, "evaluate.examples");
    for (const auto& method : methods_)
      bytes += orders(method) * as_real(std::ssize(points())) *
               statistics(SplitName::test, "prune.examples");
    return bytes + 2 * kNumber * as_real(kept_patterns()) * sizes_.example.squares * model_.heads();
  }

  double held_out_tokens() const {
    return as_real(sizes_.validation_examples + sizes_.test_examples) * sizes_.example.tokens;
  }

  // Tokens of the training split, told by the share of the others. None where data are generated.
  double training_tokens() const {
    const double held = settings_.real("task.validation") + settings_.real("task.test");
    if (find_data_source(task_config(settings_)).generate || held == 0) return 0;
    return held_out_tokens() * (1 - held) / held;
  }

  double data_bytes() const {
    constexpr double kExample =
        sizeof(Example) + 32;  // with what the memory of its two vectors costs
    return sizeof(Token) * (training_tokens() + 2 * held_out_tokens()) +
           kExample * as_real(sizes_.validation_examples + sizes_.test_examples);
  }

  // While data are read: the text and its splits, tokens and their widths, in vectors that grow.
  double making_bytes() const {
    constexpr double kTokenInMaking = 2 + 2 * (sizeof(Token) + sizeof(std::int32_t));
    return data_bytes() + kTokenInMaking * training_tokens();
  }

  const Settings& settings_;
  const TaskSizes& sizes_;
  TrainConfig train_;
  ModelConfig config_;
  ModelShape model_;
  HeadsAtWork at_work_;
  std::vector<std::string> names_, during_, methods_;
};

// What one thread does while the others wait: gradients are added in order, then parameters
// change.
Work serial_part(const Work& steps) {
  Work serial;
  for (const auto feature : {Feature::parameter_elements, Feature::updates, Feature::steps})
    serial[feature] = steps[feature];
  return serial;
}

double step_seconds(const Calibration& calibration, const Work& steps, int shards, int threads) {
  const double serial = calibration.time(serial_part(steps));
  const double rounds = std::ceil(static_cast<double>(shards) / threads);
  return serial + (calibration.time(steps) - serial) * rounds / shards;
}

}  // namespace

TaskSizes sizes_of(const Task& task) {
  TaskSizes sizes;
  sizes.vocabulary = task.vocabulary_size();
  sizes.longest = task.longest_sequence();
  sizes.classes = std::ssize(task.classes());
  BatchShape held_out;
  for (const auto name : {SplitName::validation, SplitName::test}) {
    const auto& split = task.split(name);
    (name == SplitName::test ? sizes.test_examples : sizes.validation_examples) =
        std::ssize(split.examples);
    for (const auto& example : split.examples) {
      const double length = as_real(std::ssize(example.input));
      held_out.tokens += length;
      held_out.squares += length * length;
    }
    held_out.sequences += as_real(std::ssize(split.examples));
    held_out.targets += as_real(split.target_count());
  }
  if (held_out.sequences > 0) sizes.example = (1 / held_out.sequences) * held_out;

  constexpr int kWindows = 64;  // as a sample of the training sequences
  const auto batch = task.training_batch(0, 1, kWindows * task.longest_sequence());
  BatchShape windows{as_real(batch.input.count()), as_real(batch.input.total()), 0,
                     as_real(batch.target_count())};
  for (std::int64_t b = 0; b < batch.input.count(); ++b)
    windows.squares += std::pow(as_real(batch.input.length(b)), 2);
  sizes.window = (1 / windows.sequences) * windows;
  return sizes;
}

TrialCost trial_cost(const Settings& settings, const TaskSizes& sizes,
                     const Calibration* calibration, int threads) {
  const TrialModel trial(settings, sizes);
  const Work steps = trial.steps(), validations = trial.validations(), evaluate = trial.evaluate(),
             measure = trial.measure(), prune = trial.prune();
  TrialCost cost;
  cost.parameters = std::llround(trial.shape().parameters());
  cost.stage_flops = {steps.flops() + validations.flops(), evaluate.flops(), measure.flops(),
                      prune.flops()};
  cost.flops = cost.stage_flops.total();
  cost.bytes = trial.most_bytes(threads);
  const auto passes = [&](const Work& work) {
    return calibration ? calibration->time(work) / threads
                       : std::numeric_limits<double>::quiet_NaN();
  };
  cost.stage_seconds = {passes(validations), passes(evaluate), passes(measure), passes(prune)};
  if (calibration)
    cost.stage_seconds.train += step_seconds(*calibration, steps, trial.training().shards, threads);
  cost.seconds = cost.stage_seconds.total();
  return cost;
}

double sweep_seconds(const std::vector<PlannedTrial>& trials, int jobs) {
  std::vector<double> free_at(static_cast<std::size_t>(jobs), 0.0);
  std::vector<std::optional<double>> ends(trials.size());
  for (std::size_t started = 0; started < trials.size(); ++started) {
    auto& worker = *std::min_element(free_at.begin(), free_at.end());
    // The earliest start at or after `worker`, and among those the longest trial.
    std::size_t best = trials.size();
    double best_start = 0;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      const auto& after = trials[i].after;
      if (ends[i] || (after && !ends[*after])) continue;
      const double start = std::max(worker, after ? *ends[*after] : 0.0);
      if (best == trials.size() || start < best_start ||
          (start == best_start && trials[i].seconds > trials[best].seconds)) {
        best = i;
        best_start = start;
      }
    }
    ends[best] = worker = best_start + trials[best].seconds;
  }
  return *std::max_element(free_at.begin(), free_at.end());
}

}  // namespace headcount
