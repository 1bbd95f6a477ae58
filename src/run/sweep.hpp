#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "spec/experiment.hpp"

namespace headcount {

struct SweepOptions {
  std::filesystem::path out;  // made if need be
  int threads = 1;            // of each trial
  bool quiet = false;
};

struct TrialOutcome {
  enum class Status { done, skipped, failed };
  Status status{};
  std::string trial_id;
  std::filesystem::path path;
  std::string reason;  // of a failure
  ExitCode code = ExitCode::success;
};

// Runs the trials of an experiment one after another. A trial whose file is there and validates is
// skipped; one that fails leaves <trial>.failed.json with its reason, and the others go on. Throws
// Interrupted on a request to stop.
std::vector<TrialOutcome> run_sweep(const Experiment& experiment, const SweepOptions& options);

}  // namespace headcount
