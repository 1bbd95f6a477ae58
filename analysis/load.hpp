#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/compare.hpp"

namespace headcount {

struct LoadedTrials {
  std::vector<TrialRow> trials;
  std::vector<Excluded> excluded;  // damaged, altered, failed or without an end
};

// The trial files (*.h5) of one folder, in the order of their names, each checked against its
// content hash. Settings come from /spec, metrics are the scalars of /evaluation/<split> and
// trial_summaries(); without `split`, the test split where a file has it, else validation. A trial
// that left its reason to fail
// (*.failed.json) or only a curve (*.jsonl) is excluded. Errors: no_input when there is no such
// folder or no trial in it.
LoadedTrials load_trials(const std::filesystem::path& folder,
                         const std::optional<std::string>& split = {});

// One trial file, as load_trials reads it. Errors, without the file's name: no_input where it is
// missing, bad_data where it is no whole result or has no such split.
TrialRow load_trial(const std::filesystem::path& path,
                    const std::optional<std::string>& split = {});

// compare() over load_trials(), where trials that differ only in what was measured or pruned count
// once. Error (bad_data), with the first reason, when no file can be used.
Comparison compare_folder(const std::filesystem::path& folder, const CompareOptions& options,
                          const std::optional<std::string>& split = {});

}  // namespace headcount
