#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "math/thread_team.hpp"
#include "run/progress.hpp"
#include "run/result.hpp"
#include "spec/experiment.hpp"

namespace headcount {

// What is under the treatment that a mask asks for. Kind `mean` takes its means from the validation
// split.
HeadTreatment<float> treatment_for(const Model<float>& model, const Parameters<float>& parameters,
                                   const Task& task, const std::vector<HeadId>& heads,
                                   MaskKind kind, std::int64_t examples, ThreadTeam& team);

// One trial from its settings to its file: train, evaluate, measure, prune, publish at `path`.
// Throws what went wrong; then no file is at `path`.
void run_trial(const Experiment& experiment, const TrialSpec& spec, const Task& task,
               const std::string& trial_id, const std::filesystem::path& path, ThreadTeam& team,
               Progress& progress);

}  // namespace headcount
