#pragma once

#include "analysis/compare.hpp"
#include "analysis/table.hpp"

namespace headcount {

// How two trials differ. Settings: key, a, b, for each key whose value differs; "-" where a trial
// does not have it. Scores: metric, unit, a, b, b - a, for each metric of either.
Table setting_differences(const TrialRow& a, const TrialRow& b);
Table score_differences(const TrialRow& a, const TrialRow& b);

}  // namespace headcount
