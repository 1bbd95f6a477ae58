#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "run/trial.hpp"
#include "spec/experiment.hpp"

namespace headcount {

struct SweepOptions {
  std::filesystem::path out;  // made if need be
  int threads = 1;            // of each trial
  bool quiet = false;         // failures are told all the same
  int jobs = 1;               // trials at a time
  // Bytes for all running trials together, and at most for each. Without it: nine tenths of what is
  // available now, by estimate only.
  std::optional<std::int64_t> memory = {};
  int retries = 1;         // of a trial that was killed
  bool fail_fast = false;  // the first failure stops the sweep
  CheckpointPolicy checkpoints = {};
  bool restart = false;  // takes up no checkpoint and no training done before
  // Trained parameters are also looked for in the folders beside `out`.
  bool look_beside = true;
  std::string spec = {};  // its path, for the manifest
  // For each trial the file whose training it takes over, whichever build made it: none trains, and
  // the manifest stays as it is. Empty: trials train, or find their training by themselves.
  std::vector<std::filesystem::path> trained = {};
};

struct TrialOutcome {
  enum class Status { done, skipped, failed, left };  // left: the sweep stopped before its end
  Status status = Status::left;
  std::string trial_id;
  std::filesystem::path path;
  std::string reason;  // of a failure
  ExitCode code = ExitCode::success;
};

// Runs the trials of an experiment, each in a process of its own, `jobs` at a time, the longest
// first. Outcomes stand in the order of the trials.
//
// A trial whose file is there and validates is skipped, also when another runner on the same folder
// made it meanwhile; one that another runner works on is waited for, and taken over if that runner
// is gone. Of trials that train the same model one trains and the others take its parameters. One
// that fails leaves <trial>.failed.json with its reason, and the others go on. The caller must have
// one thread only and no HDF5 file open for writing.
//
// Throws Interrupted on a request to stop, after all running trials have written a checkpoint;
// Error (cannot_create, io) where the folder or its sweep.json cannot be written. SIGUSR1 is passed
// on to the running trials.
std::vector<TrialOutcome> run_sweep(const Experiment& experiment, const SweepOptions& options);

}  // namespace headcount
