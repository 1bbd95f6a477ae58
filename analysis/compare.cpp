#include "analysis/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace headcount {
namespace {

using Values = std::vector<std::string>;

constexpr const char* kNotSet = "(not set)";

[[noreturn]] void refuse(const std::string& message) { throw Error(ExitCode::bad_data, message); }

const std::string& setting(const TrialRow& trial, const std::string& key) {
  static const std::string not_set = kNotSet;
  const auto found = trial.settings.find(key);
  return found == trial.settings.end() ? not_set : found->second;
}

Values settings(const TrialRow& trial, const std::vector<std::string>& keys) {
  Values values;
  for (const auto& key : keys) values.push_back(setting(trial, key));
  return values;
}

bool same_value(const std::string& a, const std::string& b) {
  const auto x = parse_real(a), y = parse_real(b);
  return x && y ? *x == *y : a == b;
}

bool is_seed(std::string_view key) { return key == "seed" || key.starts_with("seed."); }

// The groups' values in the order they are listed.
class GroupOrder {
 public:
  explicit GroupOrder(const std::set<Values>& groups) {
    numeric_.resize(groups.begin()->size(), true);
    for (const auto& values : groups)
      for (std::size_t i = 0; i < values.size(); ++i)
        if (!parse_real(values[i])) numeric_[i] = false;
  }

  bool operator()(const Values& a, const Values& b) const {
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (numeric_[i]) {
        const double x = *parse_real(a[i]), y = *parse_real(b[i]);
        if (x != y) return x < y;
      } else if (a[i] != b[i]) {
        return a[i] < b[i];
      }
    }
    return false;
  }

 private:
  std::vector<bool> numeric_;
};

std::vector<std::string> known_keys(const std::vector<TrialRow>& trials) {
  std::set<std::string> keys;
  for (const auto& trial : trials)
    for (const auto& [key, value] : trial.settings) keys.insert(key);
  return {keys.begin(), keys.end()};
}

std::vector<std::string> known_metrics(const std::vector<TrialRow>& trials) {
  std::set<std::string> names;
  for (const auto& trial : trials)
    for (const auto& [name, metric] : trial.metrics) names.insert(name);
  return {names.begin(), names.end()};
}

void check_names(const std::vector<TrialRow>& trials, const CompareOptions& options) {
  if (trials.empty()) refuse("there is no trial to compare");
  if (options.by.empty()) refuse("no key to compare by; name one, for example --by model.heads");
  if (options.metrics.empty()) refuse("no metric to compare; name one, for example --metric nll");
  const auto keys = known_keys(trials);
  for (const auto& key : options.by)
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      refuse(fmt::format("no trial has a setting '{}'{}", key, did_you_mean(key, keys)));
  const auto metrics = known_metrics(trials);
  for (const auto& metric : options.metrics)
    if (std::find(metrics.begin(), metrics.end(), metric) == metrics.end())
      refuse(fmt::format("no trial has a metric '{}'{} (known: {})", metric,
                         did_you_mean(metric, metrics), join(metrics, ", ")));
}

// The settings that differ among the trials, without `by`.
struct Swept {
  std::vector<std::string> paired;  // equal within a pair
  std::vector<std::string> moving;  // one value a group: they say nothing that `by` does not
};

Swept find_swept(const std::vector<TrialRow>& trials, const std::vector<std::string>& by) {
  Swept swept;
  for (const auto& key : known_keys(trials)) {
    if (std::find(by.begin(), by.end(), key) != by.end()) continue;
    std::set<std::string> all;
    std::map<Values, std::set<std::string>> in_group;
    for (const auto& trial : trials) {
      all.insert(setting(trial, key));
      in_group[settings(trial, by)].insert(setting(trial, key));
    }
    if (all.size() < 2) continue;
    const bool one_a_group = std::all_of(in_group.begin(), in_group.end(), [](const auto& group) {
      return group.second.size() == 1;
    });
    (one_a_group && !is_seed(key) ? swept.moving : swept.paired).push_back(key);
  }
  return swept;
}

Values find_baseline(const std::set<Values>& groups, const CompareOptions& options) {
  const auto wanted = split(*options.baseline, ',');
  Values known;
  for (const auto& group : groups) {
    known.push_back(join(group, ","));
    if (group.size() == wanted.size() &&
        std::equal(group.begin(), group.end(), wanted.begin(), same_value))
      return group;
  }
  refuse(fmt::format("no trial has the baseline '{}' for {} (there are: {})", *options.baseline,
                     join(options.by, ","), join(known, "; ")));
}

void check_same_meaning(const std::string& name, const TrialRow& first, const TrialRow& other) {
  const TrialScore& a = first.metrics.at(name);
  const TrialScore& b = other.metrics.at(name);
  for (const auto& [what, x, y] :
       {std::tuple{"split", a.split, b.split}, std::tuple{"definition", a.definition, b.definition},
        std::tuple{"unit", a.unit, b.unit}})
    if (x != y)
      refuse(
          fmt::format("{} is not the same number in all trials: its {} is '{}' in {} and '{}' "
                      "in {}; compare them apart",
                      name, what, x, first.id, y, other.id));
}

// The trials that count for one metric, by group; the others go to `excluded`.
using Grouped = std::map<Values, std::vector<const TrialRow*>, GroupOrder>;

Grouped group_trials(const std::vector<TrialRow>& trials, const std::vector<std::string>& by,
                     const std::string& metric, const GroupOrder& order,
                     std::vector<Excluded>& excluded) {
  Grouped groups(order);
  const TrialRow* first = nullptr;
  for (const auto& trial : trials) {
    const auto found = trial.metrics.find(metric);
    if (found == trial.metrics.end()) {
      excluded.push_back({trial.id, fmt::format("has no {}", metric)});
      continue;
    }
    if (!first) first = &trial;
    check_same_meaning(metric, *first, trial);
    if (!std::isfinite(found->second.value))
      excluded.push_back({trial.id, fmt::format("{} is {}", metric, found->second.value)});
    else
      groups[settings(trial, by)].push_back(&trial);
  }
  return groups;
}

void check_distinct(const std::vector<TrialRow>& trials, const std::vector<std::string>& keys) {
  std::map<Values, const TrialRow*> seen;
  for (const auto& trial : trials) {
    const auto [found, fresh] = seen.emplace(settings(trial, keys), &trial);
    if (!fresh)
      refuse(
          fmt::format("{} and {} do not differ in any setting (their data may); compare them "
                      "apart",
                      found->second->id, trial.id));
  }
}

std::optional<PairedDifference> pair_up(const std::vector<const TrialRow*>& group,
                                        const std::vector<const TrialRow*>& baseline,
                                        const std::vector<std::string>& paired_by,
                                        const std::string& metric, double confidence) {
  std::map<Values, double> partners;
  for (const TrialRow* trial : baseline)
    partners[settings(*trial, paired_by)] = trial->metrics.at(metric).value;
  std::vector<double> values, partner_values;
  for (const TrialRow* trial : group) {
    const auto partner = partners.find(settings(*trial, paired_by));
    if (partner == partners.end()) continue;
    values.push_back(trial->metrics.at(metric).value);
    partner_values.push_back(partner->second);
  }
  if (values.empty()) return std::nullopt;
  return paired_difference(values, partner_values, confidence);
}

std::vector<std::string> notes_on(const Swept& swept, const std::vector<std::string>& by) {
  std::vector<std::string> notes;
  const std::string keys = join(by, ",");
  for (const auto& key : swept.moving)
    notes.push_back(fmt::format("{} moves with {}: their effects cannot be told apart", key, keys));
  for (const auto& key : swept.paired)
    if (!is_seed(key))
      notes.push_back(
          fmt::format("{} differs within groups: means and intervals go over its "
                      "values as well as over seeds; --by {},{} sets them apart",
                      key, keys, key));
  return notes;
}

}  // namespace

Comparison compare(const std::vector<TrialRow>& trials, const CompareOptions& options) {
  check_names(trials, options);
  std::set<Values> groups;
  for (const auto& trial : trials) groups.insert(settings(trial, options.by));
  const GroupOrder order(groups);
  const Swept swept = find_swept(trials, options.by);
  std::vector<std::string> telling = options.by;
  telling.insert(telling.end(), swept.paired.begin(), swept.paired.end());
  check_distinct(trials, telling);

  Comparison result{.by = options.by,
                    .has_baseline = options.baseline.has_value(),
                    .confidence = options.confidence,
                    .metrics = {},
                    .excluded = {},
                    .notes = notes_on(swept, options.by)};
  const Values baseline = options.baseline ? find_baseline(groups, options) : Values{};
  for (const auto& metric : options.metrics) {
    const Grouped grouped = group_trials(trials, options.by, metric, order, result.excluded);
    const auto with_metric = std::find_if(trials.begin(), trials.end(), [&](const TrialRow& trial) {
      return trial.metrics.contains(metric);
    });
    MetricComparison compared{
        .metric = metric, .about = with_metric->metrics.at(metric), .groups = {}};
    const auto base = options.baseline ? grouped.find(baseline) : grouped.end();
    if (options.baseline && base == grouped.end())
      result.notes.push_back(fmt::format("no trial of the baseline has a usable {}", metric));
    for (const auto& [values, members] : grouped) {
      std::vector<double> scores;
      for (const TrialRow* trial : members) scores.push_back(trial->metrics.at(metric).value);
      Group group{.values = values,
                  .is_baseline = base != grouped.end() && values == baseline,
                  .summary = summarize(scores, options.confidence),
                  .difference = {}};
      if (base != grouped.end() && !group.is_baseline)
        group.difference = pair_up(members, base->second, swept.paired, metric, options.confidence);
      compared.groups.push_back(std::move(group));
    }
    result.metrics.push_back(std::move(compared));
  }
  return result;
}

Table to_table(const Comparison& comparison) {
  const auto low_high =
      [](const std::optional<ConfidenceInterval>& interval) -> std::pair<Cell, Cell> {
    if (!interval) return {};
    return {interval->low, interval->high};
  };
  std::vector<std::string> columns{"metric", "split"};
  columns.insert(columns.end(), comparison.by.begin(), comparison.by.end());
  columns.insert(columns.end(), {"n", "mean", "low", "high", "sd"});
  if (comparison.has_baseline)
    columns.insert(columns.end(), {"pairs", "difference", "difference low", "difference high",
                                   "sign-flip p", "least p"});
  Table table(columns);
  for (const auto& metric : comparison.metrics) {
    for (const auto& group : metric.groups) {
      std::vector<Cell> row{metric.metric, metric.about.split};
      for (const auto& value : group.values) {
        const auto integer = parse_integer(value);
        const auto real = parse_real(value);
        row.push_back(integer ? Cell(*integer) : real ? Cell(*real) : Cell(value));
      }
      const auto [low, high] = low_high(group.summary.interval);
      row.insert(row.end(), {static_cast<std::int64_t>(group.summary.n), group.summary.mean, low,
                             high, Cell()});
      if (group.summary.standard_deviation) row.back() = *group.summary.standard_deviation;
      if (group.difference) {
        const Summary& difference = group.difference->difference;
        const auto [below, above] = low_high(difference.interval);
        row.insert(row.end(),
                   {static_cast<std::int64_t>(difference.n), difference.mean, below, above});
        if (group.difference->sign_flip)
          row.insert(row.end(),
                     {group.difference->sign_flip->p, group.difference->sign_flip->floor});
      }
      row.resize(columns.size());
      table.add_row(std::move(row));
    }
  }
  return table;
}

std::vector<std::string> remarks(const Comparison& comparison) {
  std::vector<std::string> lines;
  for (const auto& metric : comparison.metrics)
    lines.push_back(fmt::format("{}: {} [{}], {} split", metric.metric, metric.about.definition,
                                metric.about.unit, metric.about.split));
  lines.push_back(fmt::format("n trials; low and high: {:g} % t interval of the mean over them",
                              100 * comparison.confidence));
  if (comparison.has_baseline)
    lines.emplace_back(
        "difference: to the baseline, over pairs of trials that differ in nothing else; sign-flip "
        "p: exact, two-sided; least p: the smallest it can be with so few pairs");
  for (const auto& note : comparison.notes) lines.push_back("note: " + note);
  if (!comparison.excluded.empty())
    lines.push_back(fmt::format("left out: {}", comparison.excluded.size()));
  for (const auto& excluded : comparison.excluded)
    lines.push_back(fmt::format("  {}: {}", excluded.trial, excluded.reason));
  return lines;
}

}  // namespace headcount
