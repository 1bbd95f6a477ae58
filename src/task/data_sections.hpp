#pragma once

#include <string_view>
#include <vector>

#include "task/data_source.hpp"

namespace headcount {

// The synopses of packages with the sections that they stand in, each pair once, sorted: of the
// sections that say what a package is about. Most others are named for a language or a kind of file
// (python, libs, doc), which a synopsis repeats. `packages` are paragraphs of fields, as in a
// Packages index of an archive; of a section like "universe/games" the last part counts. Throws
// Error (bad_data) for ill-formed UTF-8.
std::vector<LabelledText> synopses_by_section(std::string_view packages);

}  // namespace headcount
