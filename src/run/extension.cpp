#include "run/extension.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "measure/measure.hpp"
#include "prune/pruning.hpp"
#include "run/config.hpp"
#include "run/schema.hpp"
#include "run/stored_trial.hpp"

namespace headcount {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kHashDigits = 12;  // of a trial id, behind its slug

std::string slug_in(const std::string& trial_id) {
  return trial_id.substr(0, trial_id.size() - std::min(trial_id.size(), kHashDigits + 1));
}

constexpr const char *kMeasures = "measure.measures", *kMethods = "prune.methods";

std::vector<std::string> all_names(const std::string& key) {
  return key == kMeasures ? measures().names() : pruning_methods().names();
}

// One model as its files have it: all that was measured and pruned so far, in any of them.
struct Known {
  fs::path path;  // the first of its files
  std::map<std::string, std::set<std::string>> lists;
};

std::string without_lists(const Settings& settings) {
  std::string text;
  for (const auto& value : settings.values())
    if (value.key != kMeasures && value.key != kMethods)
      text += fmt::format("{} = {}\n", value.key, value.text);
  return text;
}

std::vector<Known> models_of(const std::vector<fs::path>& files) {
  std::vector<Known> models;
  std::map<std::string, std::size_t> places;  // by settings and data
  for (const auto& path : files) {
    const ResultFile file(path);
    if (const auto problem = validate(path)) throw Error(ExitCode::bad_data, *problem);
    const auto settings = stored_settings(file);
    const auto key = without_lists(settings) + file.attribute_text("/", "data_hash");
    const auto [place, fresh] = places.emplace(key, models.size());
    if (fresh) models.push_back({path, {}});
    for (const auto* list : {kMeasures, kMethods})
      for (const auto& name : settings.texts(list)) models[place->second].lists[list].insert(name);
  }
  return models;
}

// "measure.measures=entropy, distance": names in the order of their registry, however they came;
// names that it does not know stay, to be told.
std::string list_setting(const std::string& key, std::set<std::string> names) {
  std::vector<std::string> ordered;
  for (const auto& name : all_names(key))
    if (names.erase(name) > 0) ordered.push_back(name);
  ordered.insert(ordered.end(), names.begin(), names.end());
  return fmt::format("{}={}", key, join(ordered, ", "));
}

TrialSpec extended(const Known& model, const std::string& key, const std::string& names,
                   const std::vector<std::string>& sets) {
  const ResultFile file(model.path);
  auto lists = model.lists;
  for (const auto& name : split(names, ',')) lists[key].insert(name);
  SpecOptions options;
  options.sets = sets;
  options.sets_are_options = true;
  for (const auto& [list, listed] : lists) options.sets.push_back(list_setting(list, listed));
  auto changed = parse_experiment(file.read_text("/spec/resolved"), file.path().string(),
                                  experiment_schema(), options, check_settings);
  if (changed.trials.size() != 1)
    throw Error(ExitCode::bad_data, fmt::format("{}: the changes would make {} trials of one",
                                                file.path().string(), changed.trials.size()));
  auto trial = std::move(changed.trials.front());
  trial.slug = slug_in(file.attribute_text("/", "trial_id"));
  return trial;
}

}  // namespace

Extension extend(const std::vector<fs::path>& files, const std::string& key,
                 const std::string& names, const std::vector<std::string>& sets) {
  Extension extension;
  for (const auto& model : models_of(files)) {
    const ResultFile file(model.path);
    auto& experiment = extension.experiment;
    experiment.name = file.attribute_text("/", "experiment");
    experiment.question = file.attribute_text("/", "question");
    experiment.source = file.attribute_text("/", "source");
    experiment.trials.push_back(extended(model, key, names, sets));
    extension.trained.push_back(model.path);
  }
  return extension;
}

std::vector<fs::path> trial_files(const fs::path& path, std::vector<std::string>& problems) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.path().extension() != ".h5") continue;
    if (auto problem = validate(entry.path()))
      problems.push_back(std::move(*problem));
    else
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (files.empty())
    throw Error(ExitCode::no_input,
                fmt::format("there is no whole trial file in {}", path.string()));
  return files;
}

}  // namespace headcount
