#include "spec/axis_values.hpp"

#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "spec/lexical.hpp"
#include "spec/range.hpp"
#include "spec/schema.hpp"

namespace headcount {
namespace {

constexpr std::size_t kMostValues = kMostTrials;
constexpr std::size_t kMostProblems = 100;  // as many as a SpecError keeps

struct Ends {
  std::string_view first, last;
};

std::optional<Ends> split_ends(std::string_view text) {
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  return Ends{trim(text.substr(0, dots)), trim(text.substr(dots + 2))};
}

// "log( ... )": what stands between the parentheses.
std::optional<std::string_view> inside_log(std::string_view text) {
  if (text.substr(0, 3) != "log" || text.back() != ')') return std::nullopt;
  text = trim(text.substr(3));
  if (text.front() != '(') return std::nullopt;
  return text.substr(1, text.size() - 2);
}

bool is_whole(std::string_view text) { return parse_integer(text).has_value(); }

RangePoints expand_logarithm(std::string_view inside) {
  const auto comma = inside.rfind(',');
  const auto ends = split_ends(inside.substr(0, comma));
  if (!ends || comma == std::string_view::npos)
    return {{}, "write log(first .. last, count), as in log(1e-4 .. 1e-2, 3)"};
  return logarithmic_range(ends->first, ends->last, trim(inside.substr(comma + 1)), kMostValues);
}

// The ends are converted first, so that 1.0 .. 5.0 is refused where 1.0 is.
RangePoints expand_linear(const ValueType& type, Ends ends) {
  const auto at = ends.last.find("step");
  const bool has_step = at != std::string_view::npos;
  const auto step = has_step ? trim(ends.last.substr(at + 4)) : "1";
  if (has_step) ends.last = trim(ends.last.substr(0, at));
  for (const auto end : {ends.first, ends.last})
    if (const auto value = type.convert(end); !value.ok())
      return {{}, fmt::format("{}: {}", shown(end), value.problem)};
  if (!has_step && !(is_whole(ends.first) && is_whole(ends.last)))
    return {{}, "the range has no step; write one: 0.0 .. 0.9 step 0.1"};
  if (type.kind() != ValueKind::real && !is_whole(step))
    return {{}, fmt::format("step {}: not an integer", shown(step))};
  return linear_range(ends.first, ends.last, step, kMostValues);
}

RangePoints expand(const ValueType& type, std::string_view item) {
  if (type.is_numeric()) {
    if (const auto inside = inside_log(item)) return expand_logarithm(*inside);
    if (const auto ends = split_ends(item)) return expand_linear(type, *ends);
  }
  return {{std::string(item)}, ""};
}

}  // namespace

AxisValues parse_axis_values(const ValueType& type, std::string_view text, bool may_repeat) {
  AxisValues axis;
  text = trim(text);
  if (text.empty()) return {{}, {"no values to sweep over"}};
  const auto list = split_list(text);
  if (!list.problem.empty()) return {{}, {list.problem}};

  std::set<std::string> seen;
  for (const auto& item : list.pieces) {
    if (item.empty()) {
      axis.problems.emplace_back("an empty place in the list");
      continue;
    }
    const auto range = expand(type, item);
    if (!range.problem.empty())
      axis.problems.push_back(fmt::format("{}: {}", shown(item), range.problem));
    if (axis.values.size() + range.points.size() > kMostValues) {
      axis.problems.push_back(fmt::format("more than {} values", kMostValues));
      return axis;
    }
    for (const auto& point : range.points) {
      if (axis.problems.size() >= kMostProblems) return axis;
      auto value = type.convert(point);
      if (!value.ok())
        axis.problems.push_back(fmt::format("{}: {}", shown(point), value.problem));
      else if (!may_repeat && !seen.insert(value.text).second)
        axis.problems.push_back(fmt::format("{} stands twice", shown(value.text)));
      else
        axis.values.push_back(std::move(value.text));
    }
  }
  return axis;
}

}  // namespace headcount
