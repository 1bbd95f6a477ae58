#include "run/estimate.hpp"

#include <algorithm>

#include "model/model.hpp"
#include "run/config.hpp"

namespace headcount {
namespace {

double held_out_tokens(const Task& task, std::int64_t most_examples) {
  double tokens = 0;
  for (const auto split : {SplitName::validation, SplitName::test}) {
    std::int64_t examples = 0;
    for (const auto& example : task.split(split).examples) {
      if (most_examples > 0 && ++examples > most_examples) break;
      tokens += static_cast<double>(example.input.size());
    }
  }
  return tokens;
}

// Passes over held-out data, in passes over both splits.
double held_out_passes(const Settings& settings) {
  const auto steps = static_cast<double>(settings.integer("train.steps"));
  const auto every = static_cast<double>(settings.integer("train.validate-every"));
  const double validations = every > 0 ? steps / every : 1;
  const auto heads = static_cast<double>(head_counts(settings).total());
  const auto measures = static_cast<double>(settings.texts("measure.measures").size());
  const auto methods = static_cast<double>(settings.texts("prune.methods").size());
  const double points = std::min(heads, 1 / std::max(settings.real("prune.step"), 1e-3)) + 1;
  return validations / 2 + 1 + 2 * measures +
         methods * points * static_cast<double>(settings.integer("prune.orders"));
}

}  // namespace

Estimate estimate(const Settings& settings, const Task& task, int threads) {
  const auto config = model_config(settings, task.vocabulary_size(), task.longest_sequence());
  const Model<float> model(config);
  const auto parameters = static_cast<double>(model.layout().size());
  const auto width = static_cast<double>(config.width);
  const auto vocabulary = static_cast<double>(config.vocabulary);
  const double per_token = 2 * (parameters + (config.tied_output ? 0 : -width * vocabulary));
  const auto steps = static_cast<double>(settings.integer("train.steps"));
  const auto tokens = static_cast<double>(settings.integer("train.batch-tokens"));

  Estimate found;
  found.operations = 3 * per_token * tokens * steps +
                     per_token * held_out_passes(settings) *
                         held_out_tokens(task, settings.integer("evaluate.examples"));
  // Weights, gradient, two moments, the best so far; a gradient and the activations of a shard for
  // each thread.
  const auto layers = static_cast<double>(config.layers());
  const double shard = tokens / static_cast<double>(settings.integer("train.shards"));
  const double activations =
      shard * (layers * (12 * width + 3 * static_cast<double>(config.feed_forward)) +
               2 * vocabulary + 4 * width);
  constexpr double kFloat = sizeof(float), kProgram = 32e6;
  found.bytes = kProgram + kFloat * (5 * parameters + threads * (parameters + activations));
  return found;
}

}  // namespace headcount
