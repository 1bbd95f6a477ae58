#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "task/data_source.hpp"

namespace headcount {

// Lines of a text, a tab and its label (at most 256 bytes), white space around each left out; a
// first line that says "text", tab, "label" is a heading. Throws Error (bad_data) naming file and
// line.
std::vector<LabelledText> labelled_texts(std::string_view lines, const std::string& file);

}  // namespace headcount
