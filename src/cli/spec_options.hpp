#pragma once

#include "cli/command.hpp"
#include "spec/experiment.hpp"

namespace headcount {

// What every command takes that reads a spec: --scale and --set, beside the operand SPEC.
void add_spec_options(boost::program_options::options_description& options);

// The experiment of the operand SPEC. Throws what load_experiment does.
Experiment experiment_of(const Arguments& arguments);

}  // namespace headcount
