#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "analysis/compare.hpp"
#include "base/registry.hpp"
#include "store/reader.hpp"

namespace headcount {

// A number that stands for a curve or a grid of heads of a trial file, so that trials can be
// compared by it as by a score. "At the end" is over the last tenth of the training steps, of those
// that recorded it.
struct TrialSummary {
  About about;
  std::string unit;
  // Nothing where the file does not hold what it is made of. Errors are those of ResultFile, and
  // bad_data where a dataset has another shape than the schema says.
  std::function<std::optional<double>(const ResultFile&)> value;
  std::string split = "train";
};

const Registry<TrialSummary>& trial_summaries();

// All that the file has, as metrics.
std::map<std::string, TrialScore> summaries_of(const ResultFile& file);

}  // namespace headcount
