#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headcount {

struct RangePoints {
  std::vector<std::string> points;
  std::string problem;  // "": expanded
};

// first, first + step, ..., last in exact decimals, as many places as the most precise of the
// three has: 0.0 .. 0.9 step 0.1 holds 0.3, not 0.30000000000000004. Both ends are points: a step
// that passes over `last` is a problem, as is a range of more than `limit` points.
RangePoints linear_range(std::string_view first, std::string_view last, std::string_view step,
                         std::size_t limit);

// `count` points from first to last, each the same factor above the one before; the ends as they
// are written, those between rounded to six significant digits (so that they are the same text
// everywhere).
RangePoints logarithmic_range(std::string_view first, std::string_view last, std::string_view count,
                              std::size_t limit);

}  // namespace headcount
