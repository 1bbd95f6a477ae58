#include "base/interval.hpp"

#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace headcount {

Interval::Interval(std::string notation) : notation_(std::move(notation)) {
  const auto fail = [&] {
    throw Error(ExitCode::internal, fmt::format("'{}' is not an interval", notation_));
  };
  const std::string_view text = notation_;
  if (text.size() < 2 || (text.front() != '(' && text.front() != '[') ||
      (text.back() != ')' && text.back() != ']'))
    fail();
  const auto ends = split(text.substr(1, text.size() - 2), ',');
  if (ends.size() != 2) fail();
  const auto infinity = std::numeric_limits<double>::infinity();
  const auto low = ends[0] == "-inf" ? -infinity : parse_real(ends[0]);
  const auto high = ends[1] == "inf" ? infinity : parse_real(ends[1]);
  if (!low || !high || *low > *high) fail();
  low_ = *low;
  high_ = *high;
}

bool Interval::contains(double value) const {
  const bool above = notation_.front() == '[' ? value >= low_ : value > low_;
  const bool below = notation_.back() == ']' ? value <= high_ : value < high_;
  return above && below;
}

}  // namespace headcount
