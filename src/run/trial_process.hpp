#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "run/child.hpp"
#include "run/trial.hpp"
#include "run/trial_files.hpp"

namespace headcount {

// A trial as a sweep hands it to a process.
struct TrialAssignment {
  TrialJob job;
  TrialFiles files;
  int threads = 1;
  std::optional<std::int64_t> memory;  // bytes it may take at most
  std::string lock_token;              // of the lock it takes
  std::string stale_lock;              // stamp of a lock that may be taken over
  // Stamp of the failure that was there when the sweep began. Another one that is there by now is
  // of another runner, and holds for this one too.
  std::string known_failure;
  std::optional<int> core = {};  // it stays on, if any
};

// In a process of its own: takes the trial's lock, sends standard output and error to its log, runs
// it and gives the lock back. Throws nothing.
TrialEnd run_assignment(const TrialAssignment& assignment, const Reporter& reporter);

}  // namespace headcount
