#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "run/sweep.hpp"
#include "spec/experiment.hpp"

namespace headcount {

// Finished trials, to be measured or pruned further: the trials that their specs with other keys
// would make, and the file each takes its training from.
struct Extension {
  Experiment experiment;
  std::vector<std::filesystem::path> trained;  // of each trial
};

// Files of one model (all settings but measure.measures and prune.methods agree) give one trial,
// which holds what any of them holds. `names` are added to the list under `key` (one of these two);
// `sets` ("measure.examples=500") are put in place of what the files say. A trial that is there
// already is skipped when it is run. Errors: bad_data where a file is no whole result or its spec
// with the changes is none; no_input where a file is missing.
Extension extend(const std::vector<std::filesystem::path>& files, const std::string& key,
                 const std::string& names, const std::vector<std::string>& sets);

// The whole trial files of a folder, others told in `problems`; or the one file. Error (no_input)
// where a folder has none.
std::vector<std::filesystem::path> trial_files(const std::filesystem::path& path,
                                               std::vector<std::string>& problems);

}  // namespace headcount
