#include "run/checkpoint.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/json.hpp"
#include "run/array_file.hpp"
#include "run/provenance.hpp"

namespace headcount {
namespace fs = std::filesystem;
namespace {

using Doubles = std::vector<double>;
using Integers = std::vector<std::int64_t>;

fs::path previous_path(const fs::path& result) {
  auto path = checkpoint_path(result);
  path += ".previous";
  return path;
}

// What the bits of a trial depend on besides its spec and data.
Json build_identity() {
  const auto build = build_provenance();
  return {{"version", build.version},   {"commit", build.commit},
          {"compiler", build.compiler}, {"flags", build.flags},
          {"products", build.products}, {"instruction set", build.instruction_set}};
}

// A checkpoint that is whole, but not for this program: no reason to pass over it.
class ForeignCheckpoint : public Error {
 public:
  using Error::Error;
};

void require_same_build(const Json& theirs, const std::string& name) {
  const auto ours = build_identity();
  for (const auto& [what, value] : ours.items()) {
    const std::string other =
        theirs.is_object() ? theirs.value(what, std::string("unknown")) : "unknown";
    if (other != value)
      throw ForeignCheckpoint(
          ExitCode::bad_data,
          fmt::format("{} was made by another build or on another processor ({}: {}; here: {}): "
                      "going on from it would not give the bits of one uninterrupted run. Finish "
                      "the trial there, or begin it anew with --restart",
                      name, what, other, value.get<std::string>()));
  }
}

template <class T>
std::span<const T> span_of(const std::vector<T>& values) {
  return values;
}

std::span<const float> span_of(const Parameters<float>& parameters) {
  return {parameters.data(), static_cast<std::size_t>(parameters.size())};
}

std::string step_column(const LayerSeries& series) { return std::string("step.") + series.name; }

// Curves as columns. They must live until the file is written.
struct StepColumns {
  Doubles loss, rate, norm, layer_norm;
  Integers tokens, recorded;
  std::vector<Doubles> series{layer_series().size()};

  explicit StepColumns(const std::vector<StepReport>& steps) {
    for (const auto& step : steps) {
      loss.push_back(step.loss);
      rate.push_back(step.learning_rate);
      norm.push_back(step.gradient_norm);
      tokens.push_back(step.tokens);
      layer_norm.insert(layer_norm.end(), step.layer_gradient_norm.begin(),
                        step.layer_gradient_norm.end());
      recorded.push_back(!step.layer_activation_variance.empty());
      for (std::size_t s = 0; s < series.size(); ++s) {
        const auto& values = step.*layer_series()[s].values;
        series[s].insert(series[s].end(), values.begin(), values.end());
      }
    }
  }

  void add_to(ArrayWriter& file) const {
    file.add("step.loss", span_of(loss));
    file.add("step.learning_rate", span_of(rate));
    file.add("step.gradient_norm", span_of(norm));
    file.add("step.tokens", span_of(tokens));
    file.add("step.layer_gradient_norm", span_of(layer_norm));
    file.add("step.recorded", span_of(recorded));
    for (std::size_t s = 0; s < series.size(); ++s)
      file.add(step_column(layer_series()[s]), span_of(series[s]));
  }
};

std::vector<StepReport> read_steps(const ArrayReader& file, std::size_t layers) {
  const auto loss = file.read<double>("step.loss");
  Doubles rate(loss.size()), norm(loss.size()), layer_norm(loss.size() * layers);
  Integers tokens(loss.size()), recorded(loss.size());
  file.read("step.learning_rate", std::span(rate));
  file.read("step.gradient_norm", std::span(norm));
  file.read("step.layer_gradient_norm", std::span(layer_norm));
  file.read("step.tokens", std::span(tokens));
  file.read("step.recorded", std::span(recorded));
  std::vector<StepReport> steps(loss.size());
  const auto width = static_cast<std::ptrdiff_t>(layers);
  for (std::size_t i = 0; i < loss.size(); ++i) {
    auto& step = steps[i];
    step.step = static_cast<std::int64_t>(i) + 1;
    step.loss = loss[i];
    step.learning_rate = rate[i];
    step.gradient_norm = norm[i];
    step.tokens = tokens[i];
    const auto first = layer_norm.begin() + static_cast<std::ptrdiff_t>(i) * width;
    step.layer_gradient_norm.assign(first, first + width);
  }
  for (const auto& series : layer_series()) {
    const auto values = file.read<double>(step_column(series));
    auto next = values.begin();
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (recorded[i] == 0) continue;
      if (values.end() - next < width) file.refuse(fmt::format("{} ends early", series.name));
      (steps[i].*series.values).assign(next, next + width);
      next += width;
    }
    if (next != values.end()) file.refuse(fmt::format("{} is of no step", series.name));
  }
  return steps;
}

// Validations as columns; per-head measures as [validation, measure, value or error, head].
struct ValidationColumns {
  Integers step, examples;
  Doubles nll, heads;

  explicit ValidationColumns(const std::vector<Validation>& validations) {
    for (const auto& validation : validations) {
      step.push_back(validation.step);
      nll.push_back(validation.nll);
      for (const auto& scores : validation.heads) {
        examples.push_back(scores.examples);
        for (const auto* map : {&scores.value, &scores.standard_error})
          for (const auto& id : map->counts().all()) heads.push_back(map->at(id));
      }
    }
  }

  void add_to(ArrayWriter& file) const {
    file.add("validation.step", span_of(step));
    file.add("validation.nll", span_of(nll));
    file.add("validation.examples", span_of(examples));
    file.add("validation.heads", span_of(heads));
  }
};

Json measures_during(const std::vector<Validation>& validations) {
  auto names = Json::array();
  if (!validations.empty())
    for (const auto& scores : validations.front().heads) names.push_back(scores.about.name);
  return names;
}

std::vector<Validation> read_validations(const ArrayReader& file, const HeadCounts& counts) {
  const auto step = file.read<std::int64_t>("validation.step");
  const auto names = file.meta().at("measures").get<std::vector<std::string>>();
  const auto heads = counts.all();
  for (const auto& known = measures().names(); const auto& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      file.refuse(fmt::format("it holds a measure that is not known, {}", name));
  Doubles nll(step.size());
  file.read("validation.nll", std::span(nll));
  const auto examples = file.read<std::int64_t>("validation.examples");
  const auto values = file.read<double>("validation.heads");
  if (examples.size() != step.size() * names.size() ||
      values.size() != examples.size() * 2 * heads.size())
    file.refuse("its validations do not fit their measures");
  std::vector<Validation> validations;
  auto next_value = values.begin();
  auto next_examples = examples.begin();
  for (std::size_t i = 0; i < step.size(); ++i) {
    Validation validation{step[i], nll[i], {}};
    for (const auto& name : names) {
      const auto& entry = measures().at(name);
      HeadScores scores{entry.about,
                        entry.unit,
                        SplitName::validation,
                        *next_examples++,
                        HeadMap<double>(counts),
                        HeadMap<double>(counts)};
      for (auto* map : {&scores.value, &scores.standard_error})
        for (const auto& id : heads) map->at(id) = *next_value++;
      validation.heads.push_back(std::move(scores));
    }
    validations.push_back(std::move(validation));
  }
  return validations;
}

struct PassColumns {
  Integers sizes;
  Doubles numbers;
  Json names = Json::array();

  explicit PassColumns(const PassLog& log) {
    for (const auto& pass : log.passes()) {
      names.push_back(pass.what);
      sizes.push_back(static_cast<std::int64_t>(pass.numbers.size()));
      numbers.insert(numbers.end(), pass.numbers.begin(), pass.numbers.end());
    }
  }
};

PassLog read_passes(const ArrayReader& file) {
  const auto names = file.meta().at("passes").get<std::vector<std::string>>();
  Integers sizes(names.size());
  file.read("pass.sizes", std::span(sizes));
  const auto numbers = file.read<double>("pass.numbers");
  PassLog log;
  auto next = numbers.begin();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > numbers.end() - next)
      file.refuse("a pass is longer than what is left");
    log.add({names[i], Doubles(next, next + sizes[i])});
    next += sizes[i];
  }
  if (next != numbers.end()) file.refuse("it has results of no pass");
  return log;
}

Parameters<float> read_parameters(const ArrayReader& file, const std::string& name,
                                  const ParameterLayout& layout) {
  Parameters<float> parameters(layout);
  file.read(name, std::span(parameters.data(), static_cast<std::size_t>(parameters.size())));
  return parameters;
}

Json stages_of(const UnfinishedTrial& state) {
  auto stages = Json::array();
  for (const auto& stage : state.stages)
    stages.push_back({stage.name, stage.wall_seconds, stage.cpu_seconds});
  return stages;
}

UnfinishedTrial state_from(const ArrayReader& file, const Model<float>& model) {
  const auto& meta = file.meta();
  UnfinishedTrial state;
  state.started = meta.at("started").get<std::string>();
  for (const auto& stage : meta.at("stages"))
    state.stages.push_back(
        {stage.at(0).get<std::string>(), stage.at(1).get<double>(), stage.at(2).get<double>()});
  state.training.steps = read_steps(file, static_cast<std::size_t>(model.config().layers()));
  state.training.validations = read_validations(file, model.heads());
  state.training.parameters_step = meta.at("parameters_step").get<std::int64_t>();
  state.training.tokens_per_second = meta.at("tokens_per_second").get<double>();
  state.trained = meta.at("trained").get<bool>();
  state.trained_by = {meta.at("trained_in").get<std::string>(),
                      meta.at("trained_commit").get<std::string>()};
  state.parameters = read_parameters(file, "parameters", model.layout());
  if (file.has("moments.first"))
    state.moments.emplace(
        AdamW<float>::Moments{read_parameters(file, "moments.first", model.layout()),
                              read_parameters(file, "moments.second", model.layout())});
  if (state.trained == state.moments.has_value())
    file.refuse("it has to hold the optimizer's moments while training, and only then");
  if (file.has("best")) {
    state.best = read_parameters(file, "best", model.layout());
    state.best_step = meta.at("best_step").get<std::int64_t>();
    state.best_nll = file.read<double>("best_nll").at(0);
  }
  state.passes = read_passes(file);
  return state;
}

// Enough for any model of this layout, its curves and passes.
std::size_t largest_checkpoint(const ParameterLayout& layout) {
  return (std::size_t{4} << 30) + 4 * sizeof(float) * static_cast<std::size_t>(layout.size());
}

}  // namespace

fs::path checkpoint_path(const fs::path& result) {
  return result.parent_path() / (result.stem().string() + ".checkpoint");
}

void save_checkpoint(const fs::path& result, const std::string& trial_id,
                     const UnfinishedTrial& state, const AdamW<float>::Moments* moments) {
  const StepColumns steps(state.training.steps);
  const ValidationColumns validations(state.training.validations);
  const PassColumns passes(state.passes);
  const Doubles best_nll{state.best_nll};
  ArrayWriter file({{"kind", "checkpoint"},
                    {"trial", trial_id},
                    {"build", build_identity()},
                    {"started", state.started},
                    {"stages", stages_of(state)},
                    {"measures", measures_during(state.training.validations)},
                    {"parameters_step", state.training.parameters_step},
                    {"tokens_per_second", state.training.tokens_per_second},
                    {"trained", state.trained},
                    {"trained_in", state.trained_by.trial},
                    {"trained_commit", state.trained_by.commit},
                    {"best_step", state.best_step},
                    {"passes", passes.names}});
  steps.add_to(file);
  validations.add_to(file);
  file.add("pass.sizes", span_of(passes.sizes));
  file.add("pass.numbers", span_of(passes.numbers));
  file.add("parameters", span_of(state.parameters));
  if (moments) {
    file.add("moments.first", span_of(moments->first));
    file.add("moments.second", span_of(moments->second));
  }
  if (state.best_step > 0) {
    file.add("best", span_of(state.best));
    file.add("best_nll", span_of(best_nll));
  }
  const auto path = checkpoint_path(result);
  publish_file(path, [&](const fs::path& temporary) {
    file.write(temporary);
    std::error_code error;
    if (fs::exists(path, error)) fs::rename(path, previous_path(result), error);
    if (error)
      throw Error(ExitCode::cannot_create,
                  fmt::format("cannot rename {} to {}: {}", path.string(),
                              previous_path(result).string(), error.message()));
  });
}

UnfinishedTrial read_checkpoint(std::string bytes, const std::string& name,
                                const std::string& trial_id, const Model<float>& model) {
  const ArrayReader file(std::move(bytes), name);
  try {
    if (file.meta().at("kind") != "checkpoint") file.refuse("no checkpoint");
    if (file.meta().at("trial") != trial_id) file.refuse("the checkpoint of another trial");
    require_same_build(file.meta().at("build"), name);
    return state_from(file, model);
  } catch (const nlohmann::json::exception& error) {
    file.refuse(fmt::format("its header cannot be understood: {}", error.what()));
  }
}

std::optional<UnfinishedTrial> load_checkpoint(const fs::path& result, const std::string& trial_id,
                                               const Model<float>& model,
                                               std::vector<std::string>& problems) {
  for (const auto& path : {checkpoint_path(result), previous_path(result)}) {
    if (!fs::exists(path)) continue;
    try {
      return read_checkpoint(read_file(path, largest_checkpoint(model.layout())), path.string(),
                             trial_id, model);
    } catch (const ForeignCheckpoint&) {
      throw;
    } catch (const Error& error) {
      problems.emplace_back(error.what());
    }
  }
  return std::nullopt;
}

bool has_checkpoint(const fs::path& result) {
  std::error_code ignored;
  return fs::exists(checkpoint_path(result), ignored) || fs::exists(previous_path(result), ignored);
}

void remove_checkpoints(const fs::path& result) {
  for (const auto& path : {checkpoint_path(result), previous_path(result)}) {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
}

}  // namespace headcount
