#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/value_type.hpp"

namespace headcount {

// The values a key is swept over, canonical, in the order written.
struct AxisValues {
  std::vector<std::string> values;
  std::vector<std::string> problems;  // each names the item it is about
};

// The right side of a line in [axis], [zip.*] or [skip.*], a list of items separated by commas:
//   a value                       16        gaussian        (8 8 4 4)       "text, with commas"
//   first .. last                 1 .. 5                    both ends included
//   first .. last step s          0.0 .. 0.9 step 0.1       exact decimals
//   log(first .. last, count)     log(1e-4 .. 1e-2, 3)
// Ranges are for keys that take numbers. A value that is itself a list of names or heads stands in
// parentheses: (entropy confidence), entropy.
//
// A value that stands twice is a problem unless it `may_repeat`, as in the columns of a zip.
AxisValues parse_axis_values(const ValueType& type, std::string_view text, bool may_repeat = false);

}  // namespace headcount
