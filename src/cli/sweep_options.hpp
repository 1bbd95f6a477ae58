#pragma once

#include <vector>

#include "cli/command.hpp"
#include "run/sweep.hpp"

namespace headcount {

// What every command takes that runs trials: --jobs, --threads, --memory, --retries, --fail-fast,
// --checkpoint, --restart, --quiet.
void add_sweep_options(boost::program_options::options_description& options);

// Throws Error (usage) for a value that is none.
SweepOptions sweep_options(const Arguments& arguments);

// Prints where the results lie; returns the code of the first failure.
ExitCode report_sweep(const std::vector<TrialOutcome>& outcomes);

}  // namespace headcount
