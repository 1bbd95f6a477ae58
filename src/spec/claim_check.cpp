#include "spec/claim_check.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "spec/lexical.hpp"

namespace headcount {
namespace {

// "1, 2, 4", cut where nobody would read on.
std::string some_of(const std::vector<std::string>& values) {
  constexpr std::size_t kEnough = 12;
  const auto end = values.begin() + static_cast<std::ptrdiff_t>(std::min(values.size(), kEnough));
  return join({values.begin(), end}, ", ") + (values.size() > kEnough ? ", ..." : "");
}

bool is_seed(std::string_view key) { return key == "seed" || key.substr(0, 5) == "seed."; }

}  // namespace

ClaimCheck::ClaimCheck(const std::vector<TrialSpec>& trials) : trials_(trials) {
  std::map<std::vector<std::string>, std::size_t> numbers;
  for (const auto& trial : trials) {
    std::vector<std::string> seeds;
    for (const auto& setting : trial.settings.values())
      if (is_seed(setting.key)) seeds.push_back(setting.text);
    seeds_.push_back(numbers.emplace(std::move(seeds), numbers.size()).first->second);
  }
}

std::optional<ClaimCheck::Finding> ClaimCheck::operator()(const Claim& claim) const {
  return claim.expect.is_over_key() ? check_over_key(claim) : check_comparison(claim);
}

std::optional<ClaimCheck::Finding> ClaimCheck::check_comparison(const Claim& claim) const {
  const auto left = matching(*claim.left);
  const auto right = matching(*claim.right);
  if (left.empty()) return Finding{"left", why_none(*claim.left)};
  if (right.empty()) return Finding{"right", why_none(*claim.right)};
  Trials both;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(),
                        std::back_inserter(both));
  if (!both.empty() && claim.left->split == claim.right->split)
    return Finding{"right", fmt::format("left and right both match {}; a trial is not compared "
                                        "with itself",
                                        trials_[both.front()].slug)};
  std::vector<char> on_the_left(trials_.size(), 0);
  for (const auto trial : left) on_the_left[seeds_[trial]] = 1;
  if (std::none_of(right.begin(), right.end(),
                   [&](std::size_t trial) { return on_the_left[seeds_[trial]]; }))
    return Finding{"right", fmt::format("no trial of left ({}) has the seeds of one of right ({})",
                                        trials_[left.front()].slug, trials_[right.front()].slug)};
  return std::nullopt;
}

std::optional<ClaimCheck::Finding> ClaimCheck::check_over_key(const Claim& claim) const {
  const auto& key = claim.expect.key;
  const bool inside = claim.expect.form == Expectation::Form::peak_inside ||
                      claim.expect.form == Expectation::Form::valley_inside;
  const std::size_t needed = inside ? 3 : 2;
  const auto trials = matching(*claim.value);
  if (trials.empty()) return Finding{"value", why_none(*claim.value)};

  const auto column = column_of(key);
  std::vector<std::string> values;
  std::set<std::string_view> seen;
  std::map<std::size_t, std::set<std::string_view>> by_seed;
  for (const auto trial : trials) {
    const auto& text = value(trial, column);
    if (!parse_real(text))
      return Finding{"expect", fmt::format("{} = {} is not a number", key, shown(text))};
    by_seed[seeds_[trial]].insert(text);
    if (seen.insert(text).second) values.push_back(text);
  }
  if (values.size() < needed)
    return Finding{"expect",
                   fmt::format("{} needs {} values or more among the trials of value; they have {}",
                               key, needed, some_of(values))};
  if (std::none_of(by_seed.begin(), by_seed.end(),
                   [&](const auto& one) { return one.second.size() >= needed; }))
    return Finding{"expect", fmt::format("no seed has {} values of {} or more", needed, key)};
  return std::nullopt;
}

ClaimCheck::Trials ClaimCheck::matching(const Quantity& quantity) const {
  std::vector<std::size_t> columns;
  for (const auto& condition : quantity.where) columns.push_back(column_of(condition.key));
  Trials found;
  for (std::size_t trial = 0; trial < trials_.size(); ++trial) {
    bool all = true;
    for (std::size_t i = 0; all && i < columns.size(); ++i)
      all = value(trial, columns[i]) == quantity.where[i].value;
    if (all) found.push_back(trial);
  }
  return found;
}

std::string ClaimCheck::why_none(const Quantity& quantity) const {
  for (const auto& condition : quantity.where) {
    const auto column = column_of(condition.key);
    std::vector<std::string> values;
    std::set<std::string_view> seen;
    for (std::size_t trial = 0; trial < trials_.size(); ++trial)
      if (seen.insert(value(trial, column)).second) values.push_back(value(trial, column));
    if (seen.count(condition.value) == 0)
      return fmt::format("no trial has {} = {} (the trials have: {})", condition.key,
                         shown(condition.value), some_of(values));
  }
  std::string together;
  for (const auto& [key, value] : quantity.where)
    together += fmt::format("{}{} = {}", together.empty() ? "" : " and ", key, shown(value));
  return fmt::format("no trial has {} together", together);
}

// All trials have the same keys in the same order.
std::size_t ClaimCheck::column_of(std::string_view key) const {
  const auto& settings = trials_.front().settings.values();
  for (std::size_t i = 0; i < settings.size(); ++i)
    if (settings[i].key == key) return i;
  throw Error(ExitCode::internal, fmt::format("trials have no setting {}", key));
}

const std::string& ClaimCheck::value(std::size_t trial, std::size_t column) const {
  return trials_[trial].settings.values()[column].text;
}

}  // namespace headcount
