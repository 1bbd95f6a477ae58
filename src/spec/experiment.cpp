#include "spec/experiment.hpp"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "spec/claim_check.hpp"
#include "spec/layers.hpp"
#include "spec/lexical.hpp"
#include "spec/points.hpp"
#include "spec/spec_text.hpp"

namespace headcount {
namespace {

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

std::vector<std::string> swept_keys(const Layers& layers) {
  std::vector<std::string> keys;
  for (const auto& factor : layers.factors())
    for (const auto& line : factor.lines) keys.push_back(line.key);
  return keys;
}

bool has_line(const Layers::Block& block, std::string_view key) {
  return std::any_of(block.lines.begin(), block.lines.end(),
                     [&](const Layers::Line& line) { return line.key == key; });
}

// The line of a block that holds `key`; else where the block begins.
Place place_in(const Layers::Block& block, std::string_view key) {
  for (const auto& line : block.lines)
    if (line.key == key) return line.place;
  return block.place;
}

// A required key that nothing sets is told once, for the file; one that is only swept, for every
// case that leaves it open.
bool has_all_required(const Layers& layers, const Schema& schema, const std::string& file,
                      Problems& problems) {
  bool complete = true;
  const auto miss = [&](const Place& place, const Key& key, std::string message) {
    complete = false;
    problems.add(place, key.name, std::move(message));
  };
  for (const auto& key : schema.keys()) {
    if (!key.fallback.is_required() || layers.fixed(key.name)) continue;
    if (!layers.is_swept(key.name)) {
      miss({file, 0}, key, fmt::format("{} is not set and has no default: {}", key.name, key.help));
      continue;
    }
    for (const auto& extra : layers.cases())
      if (!has_line(extra, key.name))
        miss(extra.place, key,
             fmt::format("[case.{}] does not set {}, which is only swept and has no default",
                         extra.name, key.name));
  }
  return complete;
}

// A sweep, read from layers: its trials, and what is needed to tell where they come from.
struct Sweep {
  std::vector<TrialSpec> trials;
  std::vector<const Layers::Block*> cases;  // by trial; nullptr: of the product
  std::set<std::string> idle_skips;
};

Point axis_values(const Point& point, const std::vector<std::string>& axes,
                  const Settings& settings) {
  Point values;
  for (const auto& axis : axes) {
    const auto at = std::find_if(point.begin(), point.end(),
                                 [&](const auto& swept) { return swept.first == axis; });
    values.emplace_back(axis, at == point.end() ? settings.canonical(axis) : at->second);
  }
  return values;
}

TrialSpec trial_of(const SweepPoint& point, const std::vector<std::string>& axes,
                   const std::string& experiment, const Layers& layers, const Schema& schema) {
  TrialSpec trial{resolve(point.values, layers, schema), {}, "", ""};
  trial.axis_values = axis_values(point.values, axes, trial.settings);
  if (!point.extra) {
    trial.slug = slug_of(point.values, experiment);
    return trial;
  }
  const auto own = point.values.begin() + static_cast<std::ptrdiff_t>(point.common);
  trial.case_name = point.extra->name;
  trial.slug = slug_of_case(trial.case_name, Point(own, point.values.end()));
  return trial;
}

// Nothing, and problems, where there are no trials: a value could not be read, a required key is
// missing, or they are too many.
std::optional<Sweep> make_sweep(const Layers& layers, const Schema& schema, const std::string& file,
                                Problems& problems) {
  const auto limit = static_cast<std::size_t>(
      parse_integer(description("experiment.max-trials", layers, schema)).value());
  const bool complete = has_all_required(layers, schema, file, problems);
  if (!layers.sound()) return std::nullopt;
  auto points = sweep_points(layers, schema, limit, problems);
  if (!points || !complete) return std::nullopt;
  Sweep sweep;
  sweep.idle_skips = std::move(points->idle_skips);
  const auto axes = swept_keys(layers);
  const auto experiment = name_of_experiment(file, layers, schema);
  for (auto& point : points->points) {
    sweep.trials.push_back(trial_of(point, axes, experiment, layers, schema));
    sweep.cases.push_back(point.extra);
    point = {};
  }
  return sweep;
}

// Points of the product are never equal; a case can equal one of them, or another case. Told once a
// case, whatever the seeds.
void refuse_equal_trials(const Sweep& sweep, Problems& problems) {
  if (std::none_of(sweep.cases.begin(), sweep.cases.end(), [](const auto* c) { return c; })) return;
  std::unordered_map<std::string, std::size_t> first;
  std::set<const Layers::Block*> told;
  for (std::size_t i = 0; i < sweep.trials.size(); ++i) {
    const auto [equal, fresh] = first.emplace(sweep.trials[i].settings.hash(), i);
    if (fresh || !told.insert(sweep.cases[i]).second) continue;
    const auto& extra = *sweep.cases[i];
    problems.add(extra.place, "",
                 fmt::format("[case.{}]: its trial {} has the same settings as {}; leave one out",
                             extra.name, sweep.trials[i].slug, sweep.trials[equal->second].slug));
  }
}

void report_findings(const SettingsCheck& check, const Sweep& sweep, const Layers& layers,
                     Problems& problems) {
  for (std::size_t i = 0; i < sweep.trials.size(); ++i)
    for (const auto& [key, message] : check(sweep.trials[i].settings)) {
      const auto* extra = sweep.cases[i];
      const bool in_case = extra && (has_line(*extra, key) || layers.is_swept(key));
      problems.add(in_case ? place_in(*extra, key) : layers.place_of(key), key,
                   fmt::format("{}: {}", key, message));
    }
}

// What --scale and --set took away is no mistake of the file. The file's own sweep is made only
// when something is in question.
class OwnSweep {
 public:
  OwnSweep(const Layers& own, const Schema& schema, const std::string& file, bool overridden)
      : own_(own), schema_(schema), file_(file), overridden_(overridden) {}

  // The sweep to judge by where `effective` fails; nullptr: the file alone makes none.
  const Sweep* get(const Sweep& effective) {
    if (!overridden_) return &effective;
    if (!tried_) {
      Problems not_told;
      sweep_ = make_sweep(own_, schema_, file_, not_told);
      tried_ = true;
    }
    return sweep_ ? &*sweep_ : nullptr;
  }

 private:
  const Layers& own_;
  const Schema& schema_;
  const std::string& file_;
  bool overridden_;
  bool tried_ = false;
  std::optional<Sweep> sweep_;
};

void refuse_idle_skips(const Sweep& sweep, OwnSweep& own, const Layers& layers,
                       Problems& problems) {
  for (const auto& skip : layers.skips()) {
    if (sweep.idle_skips.count(skip.name) == 0) continue;
    const auto* judge = own.get(sweep);
    if (judge && judge->idle_skips.count(skip.name) > 0)
      problems.add(skip.lines.front().place, skip.lines.front().key,
                   fmt::format("[skip.{}] matches no point of the sweep", skip.name));
  }
}

void check_claims(std::vector<Claim>& claims, const Sweep& sweep, OwnSweep& own,
                  const Layers& layers, Problems& problems) {
  const ClaimCheck check(sweep.trials);
  std::optional<ClaimCheck> check_own;
  for (auto& claim : claims) {
    const auto finding = check(claim);
    if (!finding) continue;
    claim.not_checkable = finding->message;
    const auto* judge = own.get(sweep);
    if (!judge) continue;
    if (!check_own) check_own.emplace(judge->trials);
    const auto own_finding = (*check_own)(claim);
    if (!own_finding) continue;
    const auto block = std::find_if(layers.claims().begin(), layers.claims().end(),
                                    [&](const auto& b) { return b.name == claim.name; });
    problems.add(place_in(*block, own_finding->key), own_finding->key,
                 fmt::format("[claim.{}]: {}", claim.name, own_finding->message));
  }
}

}  // namespace

Experiment parse_experiment(std::string_view text, const std::string& file, const Schema& schema,
                            const SpecOptions& options, const SettingsCheck& check) {
  Problems problems;
  const Layers own(schema, read_spec_text(text, file, problems), file, problems);
  Layers layers = own;
  layers.apply(options.scale, options.sets, options.sets_are_options);

  Experiment experiment;
  experiment.name = name_of_experiment(file, layers, schema);
  experiment.question = description("experiment.question", layers, schema);
  experiment.source = description("experiment.source", layers, schema);
  experiment.base = resolve({}, layers, schema);
  experiment.axes = swept_keys(layers);
  experiment.claims = read_claims(layers.claims(), schema, options.metrics, problems);
  if (auto sweep = make_sweep(layers, schema, file, problems)) {
    OwnSweep own_sweep(own, schema, file, options.scale || !options.sets.empty());
    refuse_equal_trials(*sweep, problems);
    refuse_idle_skips(*sweep, own_sweep, layers, problems);
    check_claims(experiment.claims, *sweep, own_sweep, layers, problems);
    if (check) report_findings(check, *sweep, layers, problems);
    experiment.trials = std::move(sweep->trials);
  }
  problems.raise();
  return experiment;
}

Experiment load_experiment(const std::filesystem::path& path, const Schema& schema,
                           const SpecOptions& options, const SettingsCheck& check) {
  return parse_experiment(read_file(path, kLargestSpec), path.string(), schema, options, check);
}

}  // namespace headcount
