#include "analysis/load.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "analysis/summaries.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "store/reader.hpp"

namespace headcount {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEvaluation = "/evaluation";

constexpr std::size_t kLongestFailure = std::size_t{1} << 20;

// Files whose name ends so, by name.
std::vector<fs::path> files_in(const fs::path& folder, const char* ending) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (auto entry = fs::directory_iterator(folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error))
    if (entry->path().filename().string().ends_with(ending)) paths.push_back(entry->path());
  if (error)
    throw Error(ExitCode::no_input,
                fmt::format("cannot read the folder {}: {}", folder.string(), error.message()));
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string pick_split(const ResultFile& file, const std::optional<std::string>& wanted) {
  const auto splits =
      file.exists(kEvaluation) ? file.children(kEvaluation) : std::vector<std::string>{};
  const auto has = [&](const std::string& name) {
    return std::find(splits.begin(), splits.end(), name) != splits.end();
  };
  if (wanted) {
    if (has(*wanted)) return *wanted;
    throw Error(ExitCode::bad_data, fmt::format("has no split '{}' (it has: {})", *wanted,
                                                splits.empty() ? "none" : join(splits, ", ")));
  }
  for (const char* name : {"test", "validation"})
    if (has(name)) return name;
  throw Error(ExitCode::bad_data, "has neither a test nor a validation split");
}

std::string text_attribute(const ResultFile& file, const std::string& path, const char* name) {
  return file.has_attribute(path, name) ? file.attribute_text(path, name) : "";
}

std::map<std::string, TrialScore> read_metrics(const ResultFile& file, const std::string& split) {
  std::map<std::string, TrialScore> metrics;
  const std::string group = fmt::format("{}/{}", kEvaluation, split);
  for (const auto& name : file.children(group)) {
    const std::string path = fmt::format("{}/{}", group, name);
    if (file.is_group(path) || !file.shape(path).empty() || !file.type(path).starts_with("float"))
      continue;
    TrialScore metric{.value = file.read_scalar<double>(path),
                      .split = split,
                      .definition = text_attribute(file, path, "definition"),
                      .unit = text_attribute(file, path, "units")};
    if (metric.definition.empty()) metric.definition = text_attribute(file, path, "long_name");
    metrics.emplace(name, std::move(metric));
  }
  return metrics;
}

// A note that cannot be read stands for a failure all the same.
std::string reason_in(const fs::path& failure) {
  try {
    return "failed: " +
           parse_json(read_file(failure, kLongestFailure)).at("reason").get<std::string>();
  } catch (const std::exception&) {
    return fmt::format("failed; {} says no reason", failure.string());
  }
}

// Trials without a trial file: those that left the reason of their failure, and those that left
// only a curve.
std::vector<Excluded> without_file(const fs::path& folder) {
  constexpr const char *kFailure = ".failed.json", *kCurve = ".jsonl";
  std::vector<Excluded> excluded;
  std::set<std::string> failed;
  const auto trial_without_file = [&](const fs::path& path, std::string_view ending) {
    const std::string name = path.filename().string();
    const std::string id = name.substr(0, name.size() - ending.size());
    return fs::exists(folder / (id + ".h5")) ? "" : id;
  };
  for (const auto& path : files_in(folder, kFailure)) {
    const std::string id = trial_without_file(path, kFailure);
    if (id.empty()) continue;
    excluded.push_back({id, reason_in(path)});
    failed.insert(id);
  }
  for (const auto& path : files_in(folder, kCurve)) {
    const std::string id = trial_without_file(path, kCurve);
    if (!id.empty() && !failed.contains(id))
      excluded.push_back({id, "has a curve and no trial file: it runs, or was interrupted"});
  }
  return excluded;
}

// Whether the scores of a trial depend on this key.
bool moves_scores(const std::string& key) {
  return !key.starts_with("measure.") && !key.starts_with("prune.");
}

// Trials that differ only in what was measured or pruned (headcount measure, headcount prune) are
// one model with one score: the first counts.
void keep_one_of_each_model(LoadedTrials& loaded) {
  std::map<std::map<std::string, std::string>, std::string> kept;
  std::vector<TrialRow> trials;
  for (auto& trial : loaded.trials) {
    std::map<std::string, std::string> settings;
    for (const auto& [key, value] : trial.settings)
      if (moves_scores(key)) settings.emplace(key, value);
    const auto [first, fresh] = kept.emplace(std::move(settings), trial.id);
    if (fresh)
      trials.push_back(std::move(trial));
    else
      loaded.excluded.push_back({trial.id, "the model and scores of " + first->second +
                                               ", measured or pruned otherwise"});
  }
  loaded.trials = std::move(trials);
}

}  // namespace

TrialRow load_trial(const fs::path& path, const std::optional<std::string>& split) {
  if (!fs::exists(path)) throw Error(ExitCode::no_input, "there is no such file");
  if (const auto flaw = validate(path)) throw Error(ExitCode::bad_data, *flaw);
  const ResultFile file(path);
  TrialRow row{.id = file.attribute_text("/", "trial_id"), .settings = {}, .metrics = {}};
  const auto keys = file.read_texts("/spec/key"), values = file.read_texts("/spec/value");
  if (keys.size() != values.size())
    throw Error(ExitCode::bad_data,
                fmt::format("/spec has {} keys and {} values", keys.size(), values.size()));
  for (std::size_t i = 0; i < keys.size(); ++i) row.settings[keys[i]] = values[i];
  row.metrics = read_metrics(file, pick_split(file, split));
  row.metrics.merge(summaries_of(file));
  return row;
}

LoadedTrials load_trials(const fs::path& folder, const std::optional<std::string>& split) {
  LoadedTrials loaded;
  const auto paths = files_in(folder, ".h5");
  for (const auto& path : paths) {
    try {
      loaded.trials.push_back(load_trial(path, split));
    } catch (const Error& error) {
      loaded.excluded.push_back({path.filename().string(), error.what()});
    }
  }
  for (auto& trial : without_file(folder)) loaded.excluded.push_back(std::move(trial));
  if (paths.empty() && loaded.excluded.empty())
    throw Error(ExitCode::no_input,
                fmt::format("there is no trial file (*.h5) in {}", folder.string()));
  return loaded;
}

Comparison compare_folder(const fs::path& folder, const CompareOptions& options,
                          const std::optional<std::string>& split) {
  LoadedTrials loaded = load_trials(folder, split);
  if (std::all_of(options.by.begin(), options.by.end(), moves_scores))
    keep_one_of_each_model(loaded);
  if (loaded.trials.empty())
    throw Error(ExitCode::bad_data,
                fmt::format("none of the {} trials in {} can be used; {}: {}",
                            loaded.excluded.size(), folder.string(), loaded.excluded.front().trial,
                            loaded.excluded.front().reason));
  Comparison comparison = compare(loaded.trials, options);
  comparison.excluded.insert(comparison.excluded.begin(), loaded.excluded.begin(),
                             loaded.excluded.end());
  return comparison;
}

}  // namespace headcount
