#pragma once

#include <string>

#include "analysis/table.hpp"
#include "store/reader.hpp"

namespace headcount {

// A measure of a trial file as a layer × head table of one site; "" where no head is. Throws Error
// (bad_data), naming the measures that are there.
Table head_grid(const ResultFile& file, const std::string& measure, const std::string& site);

// The sites whose heads a trial file describes.
std::vector<std::string> sites_of(const ResultFile& file);

}  // namespace headcount
