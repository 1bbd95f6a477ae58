#include "analysis/load.hpp"

#include <algorithm>
#include <cstddef>
#include <system_error>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "store/reader.hpp"

namespace headcount {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEvaluation = "/evaluation";

std::vector<fs::path> files_in(const fs::path& folder, const char* extension) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (auto entry = fs::directory_iterator(folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error))
    if (entry->path().extension() == extension) paths.push_back(entry->path());
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

std::map<std::string, Metric> read_metrics(const ResultFile& file, const std::string& split) {
  std::map<std::string, Metric> metrics;
  const std::string group = fmt::format("{}/{}", kEvaluation, split);
  for (const auto& name : file.children(group)) {
    const std::string path = fmt::format("{}/{}", group, name);
    if (file.is_group(path) || !file.shape(path).empty() || !file.type(path).starts_with("float"))
      continue;
    Metric metric{.value = file.read_scalar<double>(path),
                  .split = split,
                  .definition = text_attribute(file, path, "definition"),
                  .unit = text_attribute(file, path, "units")};
    if (metric.definition.empty()) metric.definition = text_attribute(file, path, "long_name");
    metrics.emplace(name, std::move(metric));
  }
  return metrics;
}

TrialRow read_trial(const fs::path& path, const std::optional<std::string>& split) {
  if (const auto flaw = validate(path)) throw Error(ExitCode::bad_data, *flaw);
  const ResultFile file(path);
  TrialRow row{.id = file.attribute_text("/", "trial_id"), .settings = {}, .metrics = {}};
  const auto keys = file.read_texts("/spec/key"), values = file.read_texts("/spec/value");
  if (keys.size() != values.size())
    throw Error(ExitCode::bad_data,
                fmt::format("/spec has {} keys and {} values", keys.size(), values.size()));
  for (std::size_t i = 0; i < keys.size(); ++i) row.settings[keys[i]] = values[i];
  row.metrics = read_metrics(file, pick_split(file, split));
  return row;
}

}  // namespace

LoadedTrials load_trials(const fs::path& folder, const std::optional<std::string>& split) {
  LoadedTrials loaded;
  const auto paths = files_in(folder, ".h5");
  for (const auto& path : paths) {
    try {
      loaded.trials.push_back(read_trial(path, split));
    } catch (const Error& error) {
      loaded.excluded.push_back({path.filename().string(), error.what()});
    }
  }
  for (const auto& curve : files_in(folder, ".jsonl"))
    if (!fs::exists(fs::path(curve).replace_extension(".h5")))
      loaded.excluded.push_back({curve.filename().string(),
                                 "has no trial file: it still runs, was "
                                 "interrupted, or failed"});
  if (paths.empty())
    throw Error(ExitCode::no_input,
                fmt::format("there is no trial file (*.h5) in {}", folder.string()));
  return loaded;
}

Comparison compare_folder(const fs::path& folder, const CompareOptions& options,
                          const std::optional<std::string>& split) {
  LoadedTrials loaded = load_trials(folder, split);
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
