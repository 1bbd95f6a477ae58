#include "run/extension.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
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

// `have` and behind it what `more` has besides.
std::vector<std::string> united(std::vector<std::string> have, const std::string& more) {
  for (const auto& name : split(more, ','))
    if (std::find(have.begin(), have.end(), name) == have.end()) have.push_back(name);
  return have;
}

TrialSpec extended(const ResultFile& file, const std::string& key, const std::string& names,
                   const std::vector<std::string>& sets) {
  SpecOptions options;
  options.sets = sets;
  options.sets.push_back(
      fmt::format("{}={}", key, join(united(stored_settings(file).texts(key), names), ", ")));
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
  std::set<std::string> known;
  for (const auto& path : files) {
    const ResultFile file(path);
    if (const auto problem = validate(path)) throw Error(ExitCode::bad_data, *problem);
    auto& experiment = extension.experiment;
    experiment.name = file.attribute_text("/", "experiment");
    experiment.question = file.attribute_text("/", "question");
    experiment.source = file.attribute_text("/", "source");
    auto trial = extended(file, key, names, sets);
    if (!known.insert(trial.slug + trial.settings.hash()).second) continue;
    experiment.trials.push_back(std::move(trial));
    extension.trained.push_back(path);
  }
  return extension;
}

std::vector<fs::path> trial_files(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path))
    if (entry.path().extension() == ".h5") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (files.empty())
    throw Error(ExitCode::no_input, fmt::format("there is no trial file in {}", path.string()));
  return files;
}

}  // namespace headcount
