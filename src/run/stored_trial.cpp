#include "run/stored_trial.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "run/config.hpp"
#include "run/provenance.hpp"
#include "run/schema.hpp"
#include "spec/experiment.hpp"
#include "store/schema.hpp"
#include "task/make_task.hpp"

namespace headcount {
namespace {

BuildProvenance stored_build(const ResultFile& file) {
  const auto line = [&](const char* name) {
    return file.read_text(std::string("/provenance/") + name);
  };
  return {line("version"), line("commit"),          line("compiler"),
          line("flags"),   line("instruction_set"), line("products")};
}

using Doubles = std::vector<double>;
using Shape = std::vector<std::size_t>;

void require_shape(const ResultFile& file, const std::string& dataset, const Shape& shape) {
  if (const auto found = file.shape(dataset); found != shape)
    throw Error(ExitCode::bad_data,
                fmt::format("{}: {} has not the shape {} that its spec asks for, but {}",
                            file.path().string(), dataset, shape, found));
}

template <class T>
std::vector<T> read_shaped(const ResultFile& file, const std::string& dataset, const Shape& shape) {
  require_shape(file, dataset, shape);
  return file.read<T>(dataset);
}

Parameters<float> read_parameters(const ResultFile& file, const Model<float>& model) {
  const auto name = [](const auto& entry) { return "/model/" + entry.name; };
  // Before memory is taken: the spec in a file can describe any model.
  for (const auto& entry : model.layout().entries())
    require_shape(
        file, name(entry),
        {static_cast<std::size_t>(entry.block.rows), static_cast<std::size_t>(entry.block.cols)});
  Parameters<float> parameters(model.layout());
  for (const auto& entry : model.layout().entries()) {
    auto view = parameters.view(entry.block);
    const auto values = file.read<float>(name(entry));
    view = Eigen::Map<const Matrix<float>>(values.data(), view.rows(), view.cols());
  }
  return parameters;
}

// Values [n, ...] as n rows.
std::vector<Doubles> rows_of(const Doubles& values, std::size_t n) {
  std::vector<Doubles> rows;
  const auto width = static_cast<std::ptrdiff_t>(n > 0 ? values.size() / n : 0);
  for (std::size_t i = 0; i < n; ++i) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(i) * width;
    rows.emplace_back(first, first + width);
  }
  return rows;
}

std::vector<StepReport> read_steps(const ResultFile& file, std::size_t layers) {
  const auto loss = file.read<double>("/training/loss");
  const std::size_t n = loss.size();
  const auto rate = read_shaped<double>(file, "/training/learning_rate", {n});
  const auto norm = read_shaped<double>(file, "/training/gradient_norm", {n});
  const auto layer = [&](const std::string& dataset) {
    return rows_of(read_shaped<double>(file, dataset, {n, layers}), n);
  };
  auto layer_norm = layer("/training/layer_gradient_norm");
  std::vector<StepReport> steps(n);
  for (std::size_t i = 0; i < n; ++i) {
    steps[i].step = static_cast<std::int64_t>(i) + 1;
    steps[i].loss = loss[i];
    steps[i].learning_rate = rate[i];
    steps[i].gradient_norm = norm[i];
    steps[i].layer_gradient_norm = std::move(layer_norm[i]);
  }
  for (const auto& series : layer_series()) {
    const auto dataset = std::string("/training/") + series.name;
    if (!file.exists(dataset)) continue;  // of a version that did not record it
    auto recorded = layer(dataset);
    const auto missing = [](double x) { return std::isnan(x); };  // was not recorded at this step
    for (std::size_t i = 0; i < n; ++i)
      if (!std::all_of(recorded[i].begin(), recorded[i].end(), missing))
        steps[i].*series.values = std::move(recorded[i]);
  }
  return steps;
}

// Values [step, layer, head] of one site go to the maps of each step.
void read_heads_over_training(const ResultFile& file, const std::string& measure, Site site,
                              std::vector<HeadScores*>& steps) {
  const auto dataset =
      fmt::format("/heads_over_training/{}/{}", name_of(site), dataset_name(measure));
  const auto& heads = steps.front()->value.counts().layers(site);
  const Shape expected{steps.size(), heads.size(),
                       static_cast<std::size_t>(*std::max_element(heads.begin(), heads.end()))};
  const auto values = read_shaped<double>(file, dataset, expected);
  const auto examples = file.attribute_integer(dataset, "n");
  for (std::size_t step = 0; step < steps.size(); ++step) {
    auto& map = steps[step]->value;
    steps[step]->examples = examples;
    for (const auto& id : map.counts().all())
      if (id.site == site)
        map.at(id) =
            values[(step * expected[1] + static_cast<std::size_t>(id.layer)) * expected[2] +
                   static_cast<std::size_t>(id.head)];
  }
}

std::vector<Validation> read_validations(const ResultFile& file,
                                         const std::vector<std::string>& names,
                                         const HeadCounts& counts) {
  std::vector<Validation> validations;
  if (!file.exists("/training/validation_nll")) return validations;
  const auto step = file.read<std::int64_t>("/training/validation_step");
  if (step.empty()) return validations;
  const auto nll = read_shaped<double>(file, "/training/validation_nll", {step.size()});
  for (std::size_t i = 0; i < step.size(); ++i) {
    auto& validation = validations.emplace_back(Validation{step[i], nll[i], {}});
    for (const auto& name : names) {
      const auto& entry = measures().at(name);
      validation.heads.push_back({entry.about, entry.unit, SplitName::validation, 0,
                                  HeadMap<double>(counts), HeadMap<double>(counts)});
    }
  }
  for (std::size_t m = 0; m < names.size(); ++m) {
    std::vector<HeadScores*> steps;
    steps.reserve(validations.size());
    for (auto& validation : validations) steps.push_back(&validation.heads[m]);
    for (const Site site : kSites)
      if (!counts.layers(site).empty()) read_heads_over_training(file, names[m], site, steps);
  }
  return validations;
}

}  // namespace

Settings stored_settings(const ResultFile& file) {
  const auto name = file.path().string();
  const auto experiment =
      parse_experiment(file.read_text("/spec/resolved"), name + "/spec/resolved",
                       experiment_schema(), {}, check_settings);
  if (experiment.trials.size() != 1)
    throw Error(ExitCode::bad_data, fmt::format("{} does not hold the spec of one trial", name));
  return experiment.trials.front().settings;
}

StoredTrial::StoredTrial(const std::filesystem::path& path) {
  const ResultFile file(path);  // first: a missing file is another error than a broken one
  if (const auto problem = validate(path)) throw Error(ExitCode::bad_data, *problem);
  settings_ = stored_settings(file);
  task_ = make_task(task_config(settings_));
  const auto hash = file.attribute_text("/", "data_hash");
  if (task_->data_hash() != hash)
    throw Error(
        ExitCode::bad_data,
        fmt::format("{} was made from other data: task.data = {} has hash {}, the file has {}",
                    path.string(), settings_.text("task.data"), task_->data_hash().substr(0, 12),
                    hash.substr(0, 12)));
  model_ = std::make_unique<Model<float>>(model_config(settings_, *task_));
  parameters_ = read_parameters(file, *model_);
}

StoredTraining read_training(const std::filesystem::path& path, const Settings& settings,
                             const std::string& data_hash, const Model<float>& model,
                             bool any_build) {
  const ResultFile file(path);
  if (const auto problem = validate(path)) throw Error(ExitCode::bad_data, *problem);
  const auto require = [&](bool holds, const char* what) {
    if (!holds) throw Error(ExitCode::bad_data, fmt::format("{} {}", path.string(), what));
  };
  require(file.attribute_text("/", "data_hash") == data_hash, "was made from other data");
  require(same_training(stored_settings(file), settings), "records another training");
  require(any_build || stored_build(file) == build_provenance(),
          "was made by another build or on another processor");
  StoredTraining stored;
  stored.by = {file.read_text("/provenance/trained_in"),
               file.read_text("/provenance/trained_commit")};
  if (file.exists("/training")) {
    stored.record.steps = read_steps(file, static_cast<std::size_t>(model.config().layers()));
    stored.record.validations =
        read_validations(file, settings.texts("measure.during-training"), model.heads());
  }
  stored.record.parameters_step = file.attribute_integer("/model", "step");
  stored.record.tokens_per_second = file.read_scalar<double>("/timing/tokens_per_second");
  stored.parameters = read_parameters(file, model);
  return stored;
}

}  // namespace headcount
