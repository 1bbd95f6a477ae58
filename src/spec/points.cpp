#include "spec/points.hpp"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "spec/settings.hpp"

namespace headcount {
namespace {

using Block = Layers::Block;
using Line = Layers::Line;

constexpr std::size_t kMostPoints = kMostTrials;
constexpr std::size_t kMostMemory = std::size_t{1} << 30;  // bytes of the settings of all trials

bool is_seed(std::string_view key) { return key == "seed" || key.substr(0, 5) == "seed."; }

std::size_t longest(const std::vector<std::string>& values) {
  std::size_t length = 0;
  for (const auto& value : values) length = std::max(length, value.size());
  return length;
}

std::size_t text_of(const Block& block) {
  std::size_t bytes = 0;
  for (const auto& line : block.lines) bytes += longest(line.values);
  return bytes;
}

// Bytes that the settings of one trial take at most.
std::size_t bytes_of_a_trial(const Layers& layers, const Schema& schema) {
  std::size_t in_cases = 0;
  for (const auto& extra : layers.cases()) in_cases = std::max(in_cases, text_of(extra));
  std::size_t bytes = in_cases;
  for (const auto& factor : layers.factors()) bytes += text_of(factor);
  for (const auto& key : schema.keys()) {
    bytes += sizeof(Settings::Value) + key.name.size();
    if (const auto* value = value_at(key, {}, layers, schema)) bytes += value->size();
  }
  return bytes;
}

AxisGroup group_of(const Line& line) {
  AxisGroup group{{line.key}, {}};
  for (const auto& value : line.values) group.rows.push_back({value});
  return group;
}

// The lines of a factor that `wanted` takes, their rows once each; no rows for no lines.
template <class Wanted>
AxisGroup group_of(const Block& factor, Wanted wanted) {
  AxisGroup group;
  std::vector<const Line*> lines;
  for (const auto& line : factor.lines)
    if (wanted(line.key)) {
      lines.push_back(&line);
      group.keys.push_back(line.key);
    }
  std::set<std::vector<std::string>> seen;
  for (std::size_t i = 0; !lines.empty() && i < lines.front()->values.size(); ++i) {
    std::vector<std::string> row;
    row.reserve(lines.size());
    for (const auto* line : lines) row.push_back(line->values[i]);
    if (seen.insert(row).second) group.rows.push_back(std::move(row));
  }
  return group;
}

std::vector<AxisGroup> groups_of_product(const Layers& layers) {
  std::vector<AxisGroup> groups;
  for (const auto& factor : layers.factors())
    groups.push_back(group_of(factor, [](const std::string&) { return true; }));
  return groups;
}

// A case as a product of its own: lines with one value, lines with several, seeds.
struct CaseGroups {
  std::vector<AxisGroup> groups;
  std::size_t common = 0;
};

CaseGroups groups_of_case(const Block& extra, const Layers& layers) {
  CaseGroups made;
  std::vector<AxisGroup> several;
  std::set<std::string> keys;
  for (const auto& line : extra.lines) {
    const bool overridden =
        layers.is_set(line.key) && (is_seed(line.key) || !layers.is_swept(line.key));
    if (overridden) continue;
    keys.insert(line.key);
    (line.values.size() == 1 ? made.groups : several).push_back(group_of(line));
  }
  made.common = made.groups.size();
  std::move(several.begin(), several.end(), std::back_inserter(made.groups));
  for (const auto& factor : layers.factors()) {
    auto seeds = group_of(
        factor, [&](const std::string& key) { return is_seed(key) && keys.count(key) == 0; });
    if (!seeds.keys.empty()) made.groups.push_back(std::move(seeds));
  }
  return made;
}

// A skip, ready to be compared with many points that have the same keys in the same places.
class SkipTest {
 public:
  SkipTest(const Block& skip, const Point& any, const Layers& layers, const Schema& schema) {
    for (const auto& line : skip.lines) {
      const auto* value = value_at(*schema.find(line.key), any, layers, schema);
      std::unordered_set<std::string> wanted(line.values.begin(), line.values.end());
      const auto column = std::find_if(any.begin(), any.end(),
                                       [&](const auto& place) { return &place.second == value; });
      if (column != any.end())
        conditions_.push_back({static_cast<std::size_t>(column - any.begin()), std::move(wanted)});
      else if (!value || wanted.count(*value) == 0)
        matches_nothing_ = true;
    }
  }

  bool matches(const Point& point) const {
    return !matches_nothing_ &&
           std::all_of(conditions_.begin(), conditions_.end(), [&](const Condition& condition) {
             return condition.wanted.count(point[condition.column].second) > 0;
           });
  }

 private:
  struct Condition {
    std::size_t column;
    std::unordered_set<std::string> wanted;
  };
  std::vector<Condition> conditions_;
  bool matches_nothing_ = false;
};

// Every skip is compared with every point, so that one that another makes superfluous is not idle.
std::set<std::string> drop_skipped(std::vector<Point>& points, const Layers& layers,
                                   const Schema& schema) {
  std::set<std::string> idle;
  std::vector<char> dropped(points.size(), 0);
  for (const auto& skip : layers.skips()) {
    const SkipTest test(skip, points.front(), layers, schema);
    bool acts = false;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (test.matches(points[i])) dropped[i] = acts = true;
    if (!acts) idle.insert(skip.name);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (dropped[i]) continue;
    if (kept != i) points[kept] = std::move(points[i]);
    ++kept;
  }
  points.resize(kept);
  return idle;
}

// Sizes are told before anything of that size is made.
class Maker {
 public:
  Maker(const Layers& layers, const Schema& schema, std::size_t limit, Problems& problems)
      : layers_(layers),
        schema_(schema),
        limit_(limit),
        problems_(problems),
        bytes_(bytes_of_a_trial(layers, schema)) {}

  std::optional<SweepPoints> make() {
    if (!make_product()) return std::nullopt;
    for (const auto& extra : layers_.cases())
      if (!add_case(extra)) return std::nullopt;
    if (!made_.points.empty()) return std::move(made_);
    const auto& skip = layers_.skips().back();
    refuse(skip.place,
           fmt::format("[skip.{}]: no trial is left, every point is skipped", skip.name));
    return std::nullopt;
  }

 private:
  bool refuse(const Place& place, std::string message) {
    problems_.add(place, "", std::move(message));
    return false;
  }

  bool fits(std::size_t points, std::size_t limit, const Place& place, std::string_view what) {
    if (points > limit)
      return refuse(place, fmt::format("{} make more than {} trials; leave values out, or raise "
                                       "experiment.max-trials",
                                       what, limit));
    if (points > kMostMemory / bytes_)
      return refuse(place,
                    fmt::format("{} make {} trials of {} bytes; at most {} bytes are taken in all",
                                what, points, bytes_, kMostMemory));
    return true;
  }

  bool make_product() {
    const auto groups = groups_of_product(layers_);
    const auto place = groups.empty() ? Place{} : layers_.place_of(groups.back().keys.front());
    const auto size = product_size(groups, kMostPoints);
    const bool skips = !layers_.skips().empty();
    if (skips && size > kMostPoints)
      return refuse(place, fmt::format("the axes make more than {} points before any is skipped; "
                                       "leave values out",
                                       kMostPoints));
    if (!fits(size, skips ? kMostPoints : limit_, place, "the axes")) return false;
    auto points = product(groups);
    made_.idle_skips = drop_skipped(points, layers_, schema_);
    if (!fits(points.size(), limit_, place, "the axes")) return false;
    for (auto& point : points) made_.points.push_back({std::move(point), nullptr, 0});
    return true;
  }

  bool add_case(const Block& extra) {
    const auto made = groups_of_case(extra, layers_);
    const auto size = made_.points.size() + product_size(made.groups, limit_);
    if (!fits(size, limit_, extra.place, "the axes and cases")) return false;
    for (auto& point : product(made.groups))
      made_.points.push_back({std::move(point), &extra, made.common});
    return true;
  }

  const Layers& layers_;
  const Schema& schema_;
  std::size_t limit_;
  Problems& problems_;
  std::size_t bytes_;
  SweepPoints made_;
};

}  // namespace

const std::string* value_at(const Key& key, const Point& point, const Layers& layers,
                            const Schema& schema) {
  for (const auto& [swept, value] : point)
    if (swept == key.name) return &value;
  if (const auto* fixed = layers.fixed(key.name)) return &fixed->value;
  if (key.fallback.is_required()) return nullptr;
  if (key.fallback.is_same_as())
    return value_at(*schema.find(key.fallback.text()), point, layers, schema);
  if (key.fallback.is_by()) {
    const auto* other = value_at(*schema.find(key.fallback.key()), point, layers, schema);
    const auto& values = key.fallback.values();
    if (const auto found = values.find(*other); found != values.end()) return &found->second;
  }
  return &key.fallback.text();
}

std::optional<SweepPoints> sweep_points(const Layers& layers, const Schema& schema,
                                        std::size_t limit, Problems& problems) {
  return Maker(layers, schema, limit, problems).make();
}

}  // namespace headcount
