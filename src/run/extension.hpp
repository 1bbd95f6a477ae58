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

// `names` are added to the list under `key` (measure.measures or prune.methods) of each file's
// spec; `sets` ("measure.examples=500") are put in place of what it says. A file that holds all
// this already gives its own trial; several files of one model that would give the same trial, one.
// Errors: bad_data where a file is no whole result or its spec with the changes is none; no_input
// where a file is missing.
Extension extend(const std::vector<std::filesystem::path>& files, const std::string& key,
                 const std::string& names, const std::vector<std::string>& sets);

// The trial files of a folder, or the one file. Error (no_input) where there is none.
std::vector<std::filesystem::path> trial_files(const std::filesystem::path& path);

}  // namespace headcount
