#include "spec/experiment.hpp"

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "spec/layers.hpp"
#include "spec/lexical.hpp"
#include "spec/spec_text.hpp"

namespace headcount {
namespace {

// A key's value at a point: the axis's, else the fixed one, else the default. Nothing: required.
const std::string* value_at(const Key& key, const Point& point, const Layers& layers,
                            const Schema& schema) {
  for (const auto& [swept, value] : point)
    if (swept == key.name) return &value;
  if (const auto* fixed = layers.fixed(key.name)) return &fixed->value;
  if (key.fallback.is_required()) return nullptr;
  if (key.fallback.is_same_as())
    return value_at(*schema.find(key.fallback.text()), point, layers, schema);
  return &key.fallback.text();
}

Settings resolve(const Point& point, const Layers& layers, const Schema& schema) {
  Settings settings;
  for (const auto& key : schema.keys()) {
    if (key.descriptive) continue;
    if (const auto* value = value_at(key, point, layers, schema))
      settings.add({key.name, key.type.kind(), *value});
  }
  return settings;
}

std::string description(std::string_view key, const Layers& layers, const Schema& schema) {
  return *value_at(*schema.find(key), {}, layers, schema);
}

std::string name_of_experiment(const std::string& file, const Layers& layers,
                               const Schema& schema) {
  if (auto name = description("experiment.name", layers, schema); !name.empty()) return name;
  const auto stem = file_safe(std::filesystem::path(file).stem().string(), 100);
  return stem.empty() ? "experiment" : stem;
}

std::vector<AxisGroup> groups_of(const Layers& layers) {
  std::vector<AxisGroup> groups;
  for (const auto& axis : layers.axes()) {
    auto& group = groups.emplace_back(AxisGroup{{axis.key}, {}});
    for (const auto& value : axis.values) group.rows.push_back({value});
  }
  return groups;
}

// A required key that nothing sets is told once, for the file.
bool has_all_required(const Layers& layers, const Schema& schema, const Point& any_point,
                      const std::string& file, Problems& problems) {
  bool complete = true;
  for (const auto& key : schema.keys()) {
    if (!key.fallback.is_required() || value_at(key, any_point, layers, schema)) continue;
    complete = false;
    problems.add({file, 0}, key.name,
                 fmt::format("{} is not set and has no default: {}", key.name, key.help));
  }
  return complete;
}

void report_findings(const SettingsCheck& check, const std::vector<TrialSpec>& trials,
                     const Layers& layers, Problems& problems) {
  for (const auto& trial : trials)
    for (const auto& [key, message] : check(trial.settings))
      problems.add(layers.place_of(key), key, fmt::format("{}: {}", key, message));
}

}  // namespace

Experiment parse_experiment(std::string_view text, const std::string& file, const Schema& schema,
                            const SpecOptions& options, const SettingsCheck& check) {
  Problems problems;
  Layers layers(schema, read_spec_text(text, file, problems), file, problems);
  if (options.scale) layers.apply_scale(*options.scale);
  for (const auto& set : options.sets) layers.apply_set(set);

  Experiment experiment;
  experiment.name = name_of_experiment(file, layers, schema);
  experiment.question = description("experiment.question", layers, schema);
  experiment.source = description("experiment.source", layers, schema);
  experiment.base = resolve({}, layers, schema);

  // Groups of [zip.*] will join these; [case.*] adds points, [skip.*] takes some away.
  const auto groups = groups_of(layers);
  Point swept;
  for (const auto& axis : layers.axes()) {
    experiment.axes.push_back(axis.key);
    swept.emplace_back(axis.key, axis.values.front());
  }
  const auto limit = static_cast<std::size_t>(
      parse_integer(description("experiment.max-trials", layers, schema)).value());
  const bool complete = has_all_required(layers, schema, swept, file, problems);
  const bool few_enough = product_size(groups, limit) <= limit;
  if (!few_enough)
    problems.add(layers.place_of(groups.back().keys.front()), groups.back().keys.front(),
                 fmt::format("the axes make more than {} trials; leave values out, or raise "
                             "experiment.max-trials",
                             limit));

  if (layers.sound() && complete && few_enough) {
    for (auto& point : product(groups)) {
      TrialSpec trial{resolve(point, layers, schema), std::move(point), ""};
      trial.slug = slug_of(trial.axis_values, experiment.name);
      experiment.trials.push_back(std::move(trial));
    }
    if (check) report_findings(check, experiment.trials, layers, problems);
  }
  problems.raise();
  return experiment;
}

Experiment load_experiment(const std::filesystem::path& path, const Schema& schema,
                           const SpecOptions& options, const SettingsCheck& check) {
  return parse_experiment(read_file(path, kLargestSpec), path.string(), schema, options, check);
}

}  // namespace headcount
