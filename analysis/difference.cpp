#include "analysis/difference.hpp"

#include <cmath>
#include <limits>
#include <set>

namespace headcount {
namespace {

template <class Value>
std::set<std::string> keys_of_either(const std::map<std::string, Value>& a,
                                     const std::map<std::string, Value>& b) {
  std::set<std::string> keys;
  for (const auto* map : {&a, &b})
    for (const auto& entry : *map) keys.insert(entry.first);
  return keys;
}

}  // namespace

Table setting_differences(const TrialRow& a, const TrialRow& b) {
  Table table({"key", "a", "b"});
  const auto value = [](const TrialRow& trial, const std::string& key) -> std::string {
    const auto found = trial.settings.find(key);
    return found == trial.settings.end() ? "-" : found->second;
  };
  for (const auto& key : keys_of_either(a.settings, b.settings))
    if (value(a, key) != value(b, key)) table.add_row({key, value(a, key), value(b, key)});
  return table;
}

Table score_differences(const TrialRow& a, const TrialRow& b) {
  Table table({"metric", "unit", "a", "b", "b - a"});
  const auto value = [](const TrialRow& trial, const std::string& name) {
    const auto found = trial.metrics.find(name);
    return found == trial.metrics.end() ? std::numeric_limits<double>::quiet_NaN()
                                        : found->second.value;
  };
  for (const auto& name : keys_of_either(a.metrics, b.metrics)) {
    const auto& unit = (a.metrics.contains(name) ? a : b).metrics.at(name).unit;
    table.add_row({name, unit, number(value(a, name)), number(value(b, name)),
                   number(value(b, name) - value(a, name))});
  }
  return table;
}

}  // namespace headcount
