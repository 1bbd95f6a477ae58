#pragma once

#include <filesystem>

#include "run/result.hpp"

namespace headcount {

// Writes a trial file of schema 1 (docs/trial-file.md), whole or not at all.
void publish_trial(const std::filesystem::path& path, const TrialResult& result);

}  // namespace headcount
