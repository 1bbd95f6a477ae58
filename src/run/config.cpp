#include "run/config.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "task/make_task.hpp"

namespace headcount {
namespace {

bool acts(const Settings& settings, bool training) {
  return settings.is("mask.when", "both") ||
         settings.is("mask.when", training ? "train" : "evaluate");
}

// What a list says, one for all layers or one a layer.
template <class Convert>
auto values_of(const std::vector<std::string>& list, const Convert& convert) {
  std::vector<decltype(convert(list[0]))> values;
  values.reserve(list.size());
  for (const auto& word : list) values.push_back(convert(word));
  return values;
}

std::vector<Index> feed_forward_widths(const Settings& settings) {
  const Index usual = 4 * settings.integer("model.d-model");
  return values_of(settings.list("model.feed-forward"), [usual](const std::string& word) {
    return word == "auto" ? usual : static_cast<Index>(parse_integer(word).value());
  });
}

std::vector<int> heads_per_layer(const Settings& settings) {
  const auto given = settings.integers("model.heads");
  const auto layers = static_cast<std::size_t>(settings.integer("model.layers"));
  std::vector<int> heads;
  for (std::size_t layer = 0; layer < layers; ++layer)
    heads.push_back(static_cast<int>(given.size() == 1 ? given[0] : given.at(layer)));
  return heads;
}

// Per layer; with `auto`, d-model shared out among the layer's heads.
std::vector<Index> head_widths(const Settings& settings) {
  std::vector<Index> widths;
  for (const int heads : heads_per_layer(settings))
    widths.push_back(settings.is("attention.head-width", "auto")
                         ? settings.integer("model.d-model") / std::max(heads, 1)
                         : settings.integer("attention.head-width"));
  return widths;
}

Site site_of(const Settings& settings) {
  return settings.is("attention.mask", "causal") ? Site::decoder_self : Site::encoder_self;
}

// What heads need of each other, or of the model's width.
void check_attention(const Settings& settings, std::vector<KeyProblem>& problems) {
  const auto heads = heads_per_layer(settings);
  const auto widths = head_widths(settings);
  const auto width = settings.integer("model.d-model");
  const auto first_layer = [&](const auto& is_wrong) {
    std::size_t layer = 0;
    while (layer < heads.size() && (heads[layer] == 0 || !is_wrong(layer))) ++layer;
    return layer < heads.size() ? std::optional(layer) : std::nullopt;
  };
  if (!settings.is("attention.kv-heads", "auto")) {
    const auto shared = settings.integer("attention.kv-heads");
    if (const auto layer = first_layer([&](auto l) { return heads[l] % shared != 0; }))
      problems.push_back(
          {"attention.kv-heads",
           fmt::format("{} heads cannot share {} heads of keys and values evenly; give a divisor "
                       "of every layer's heads, or auto",
                       heads[*layer], shared)});
    else if (!settings.is("attention.share", "none") &&
             first_layer([&](auto l) { return heads[l] != shared; }))
      problems.push_back(
          {"attention.kv-heads",
           fmt::format("with attention.share = {} every head has keys of its own; give auto, or "
                       "share = none",
                       settings.text("attention.share"))});
  }
  if (settings.is("attention.share", "identity"))
    if (const auto layer = first_layer([&](auto l) { return heads[l] * widths[l] != width; }))
      problems.push_back(
          {"attention.share",
           fmt::format("without projections {} heads of width {} take {} columns, but d-model is "
                       "{}",
                       heads[*layer], widths[*layer], heads[*layer] * widths[*layer], width)});
}

// What is given by layer is given for as many as there are.
void check_layers(const Settings& settings, std::vector<KeyProblem>& problems) {
  const auto layers = settings.integer("model.layers");
  for (const char* key : {"model.heads", "model.feed-forward", "model.norm", "model.residual"})
    if (const auto given = settings.list(key).size();
        given != 1 && given != static_cast<std::size_t>(layers))
      problems.push_back(
          {key, fmt::format("{} values for {} layers; give one, or one a layer", given, layers)});
}

void check_heads(const Settings& settings, std::vector<KeyProblem>& problems) {
  const auto width = settings.integer("model.d-model");
  if (settings.is("attention.head-width", "auto"))
    for (const int heads : heads_per_layer(settings))
      if (heads > 0 && width % heads != 0) {
        problems.push_back({"model.heads", fmt::format("{} heads do not divide d-model {}; set "
                                                       "attention.head-width to choose a width",
                                                       heads, width)});
        break;
      }
  check_attention(settings, problems);
  try {
    const auto chosen = select_heads(settings.text("mask.heads"), head_counts(settings));
    const bool in_training = !chosen.empty() && acts(settings, true);
    if (in_training && settings.is("mask.kind", "mean"))
      problems.push_back(
          {"mask.kind", "mean needs a trained model; it can act only when = evaluate"});
    if (in_training && settings.integer("train.steps") == 0)
      problems.push_back(
          {"mask.when", "with train.steps = 0 nothing would consume a mask in training"});
  } catch (const Error& error) {
    problems.push_back({"mask.heads", error.what()});
  }
}

void check_sizes(const Settings& settings, std::vector<KeyProblem>& problems) {
  const auto config = model_config(settings, 1, 1);
  ParameterLayout positions;
  try {
    position_encodings().at(config.positions).make<float>(position_config(config), positions);
  } catch (const Error& error) {
    problems.push_back({"model.positions", error.what()});
  }
  auto numbers = static_cast<double>(positions.count());
  for (std::size_t layer = 0; layer < config.heads.size(); ++layer)
    numbers += static_cast<double>(config.width) *
               (4.0 * static_cast<double>(config.head_widths[layer]) *
                    static_cast<double>(config.heads[layer].size()) +
                2.0 * static_cast<double>(config.feed_forward.at(layer)) +
                (config.average ? 2.0 * static_cast<double>(config.width) : 0));
  constexpr double kMost = 4e9;
  if (numbers > kMost)
    problems.push_back(
        {"model.d-model", fmt::format("a model of {:.2g} parameters is more than the "
                                      "{:.0g} that are allowed",
                                      numbers, kMost)});
}

void check_initialization(const Settings& settings, std::vector<KeyProblem>& problems) {
  const auto config = model_config(settings, 1, 1);
  const auto& scheme = initialization_schemes().at(settings.text("model.init"));
  if (const auto problem = scheme.unfit(config.residual, config.norm); !problem.empty())
    problems.push_back({"model.init", problem});
}

void check_task(const Settings& settings, std::vector<KeyProblem>& problems) {
  if (settings.real("task.masked-random") + settings.real("task.masked-kept") > 1)
    problems.push_back({"task.masked-random", "with task.masked-kept it is more than all targets"});
}

void check_splits(const Settings& settings, std::vector<KeyProblem>& problems) {
  if (settings.real("task.validation") + settings.real("task.test") >= 1)
    problems.push_back({"task.validation", "validation and test leave no text to train on"});
  const auto need = [&](const char* split, const char* key, const char* what) {
    if (settings.real(fmt::format("task.{}", split)) == 0)
      problems.push_back(
          {key, fmt::format("{} the {} split, but task.{} is 0", what, split, split)});
  };
  if (!settings.texts("prune.methods").empty()) {
    need("validation", "prune.methods", "an order of heads is chosen on");
    need("test", "prune.methods", "a pruning curve is reported on");
  }
  if (!settings.texts("measure.measures").empty() || settings.integer("measure.patterns") > 0)
    need(settings.text("measure.split").c_str(), "measure.measures", "heads are measured on");
  if (!settings.texts("measure.during-training").empty())
    need("validation", "measure.during-training", "heads are measured during training on");
  if (settings.is("evaluate.parameters", "best"))
    need("validation", "evaluate.parameters", "the best parameters are chosen on");
  if (settings.integer("evaluate.generation") > 0 && !settings.is("task.kind", "language-model"))
    problems.push_back({"evaluate.generation",
                        fmt::format("task.kind = {} generates nothing; only a language-model does",
                                    settings.text("task.kind"))});
  if (settings.is("mask.kind", "mean") && !settings.text("mask.heads").empty())
    need("validation", "mask.kind", "mean contexts are taken from");
}

// Of the task, or none for data that are not known, which whoever makes the task tells.
std::set<std::string> without_effect(const TrialSpec& trial) {
  try {
    const auto keys = keys_without_effect(task_config(trial.settings));
    return {keys.begin(), keys.end()};
  } catch (const Error&) {
    return {};
  }
}

// All keys that training depends on.
std::string training_text(const Settings& settings) {
  auto text = settings.sections({"seed", "task", "model", "attention", "train"}).to_text();
  if (!mask_config(settings, true).heads.empty()) text += settings.sections({"mask"}).to_text();
  return text;
}

}  // namespace

TaskConfig task_config(const Settings& settings) {
  TaskConfig config;
  for (const TaskKey& key : task_keys())
    if (std::holds_alternative<TaskKey::Integer>(key.type))
      config.set(key.name, settings.integer(key.name));
    else if (std::holds_alternative<TaskKey::Real>(key.type))
      config.set(key.name, settings.real(key.name));
    else
      config.set(key.name, settings.text(key.name));
  return config;
}

std::vector<std::string> keys_without_effect(const Experiment& experiment) {
  std::set<std::string> everywhere;
  for (const auto& trial : experiment.trials) {
    auto here = without_effect(trial);
    if (&trial == &experiment.trials.front())
      everywhere = std::move(here);
    else
      std::erase_if(everywhere, [&](const std::string& key) { return !here.contains(key); });
  }
  return {everywhere.begin(), everywhere.end()};
}

HeadCounts head_counts(const Settings& settings) {
  return {site_of(settings), heads_per_layer(settings)};
}

ModelConfig model_config(const Settings& settings, Index vocabulary, Index longest, Index classes) {
  ModelConfig config;
  config.site = site_of(settings);
  config.mask = parse_attention_mask(settings.text("attention.mask"));
  config.vocabulary = vocabulary;
  config.longest = longest;
  config.classes = classes;
  config.width = settings.integer("model.d-model");
  config.feed_forward = feed_forward_widths(settings);
  config.set_heads(heads_per_layer(settings), head_widths(settings));
  config.score = settings.text("attention.score");
  config.sharing = sharings().at(settings.text("attention.share")).sharing;
  config.key_value_heads = settings.is("attention.kv-heads", "auto")
                               ? 0
                               : static_cast<int>(settings.integer("attention.kv-heads"));
  config.average = settings.boolean("attention.average");
  config.norm = values_of(settings.list("model.norm"), parse_norm_placement);
  config.norm_kind = parse_norm_kind(settings.text("model.norm-kind"));
  config.residual = values_of(settings.list("model.residual"), parse_residual);
  config.activation = parse_activation(settings.text("model.activation"));
  config.positions = settings.text("model.positions");
  config.relative_distance = settings.integer("model.relative-distance");
  config.dropout = settings.real("model.dropout");
  config.pattern_dropout = settings.real("attention.dropout");
  config.tied_output = settings.boolean("model.tied-output");
  config.scale_embedding = settings.boolean("model.scale-embedding");
  return config;
}

ModelConfig model_config(const Settings& settings, const Task& task) {
  return model_config(settings, task.vocabulary_size(), task.longest_sequence(),
                      std::ssize(task.classes()));
}

TrainConfig train_config(const Settings& settings) {
  TrainConfig config;
  config.steps = settings.integer("train.steps");
  config.batch_tokens = settings.integer("train.batch-tokens");
  config.precision = parse_precision(settings.text("train.precision"));
  config.shards = static_cast<int>(settings.integer("train.shards"));
  config.schedule = {parse_schedule(settings.text("train.schedule")),
                     settings.real("train.learning-rate"), settings.integer("train.warm-up"),
                     config.steps};
  config.optimizer = {settings.real("train.beta-1"), settings.real("train.beta-2"),
                      settings.real("train.epsilon"), settings.real("train.weight-decay")};
  config.clip = settings.real("train.clip");
  config.data_seed = static_cast<std::uint64_t>(settings.integer("seed.data"));
  config.dropout_seed = static_cast<std::uint64_t>(settings.integer("seed.init"));
  config.record_every = settings.integer("train.record-every");
  return config;
}

MaskConfig mask_config(const Settings& settings, bool training) {
  if (!acts(settings, training)) return {};
  return {select_heads(settings.text("mask.heads"), head_counts(settings)),
          parse_mask_kind(settings.text("mask.kind"))};
}

std::string model_id(const Settings& settings, const std::string& data_hash) {
  return sha256_hex(training_text(settings) + data_hash).substr(0, 16);
}

bool same_training(const Settings& a, const Settings& b) {
  const auto record = [](const Settings& settings) {
    std::vector<std::string> values{training_text(settings)};
    for (const char* key : {"evaluate.parameters", "evaluate.examples", "measure.during-training"})
      values.push_back(settings.canonical(key));
    if (!settings.texts("measure.during-training").empty())
      values.push_back(settings.canonical("measure.examples"));
    return values;
  };
  return record(a) == record(b);
}

std::vector<KeyProblem> check_settings(const Settings& settings) {
  std::vector<KeyProblem> problems;
  check_layers(settings, problems);
  if (problems.empty()) check_heads(settings, problems);
  if (problems.empty()) {
    check_sizes(settings, problems);
    check_initialization(settings, problems);
  }
  check_task(settings, problems);
  check_splits(settings, problems);
  return problems;
}

}  // namespace headcount
