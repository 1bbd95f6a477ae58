#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
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

// When a running trial writes a checkpoint besides those it is asked for by signals.
struct CheckpointPolicy {
  std::int64_t every_steps = 0;  // training steps, or passes over a split after them; 0: never
  double every_seconds = 300;    // 0: never
};

// What one trial needs. What is pointed to must outlive it.
struct TrialJob {
  const Experiment* experiment = nullptr;
  const TrialSpec* spec = nullptr;
  const Task* task = nullptr;
  std::string id;
  std::filesystem::path path;  // of the result; checkpoints lie beside it
  CheckpointPolicy checkpoints = {};
  // A finished trial that may have trained the same model: if so, its curves and parameters are
  // taken over.
  std::optional<std::filesystem::path> trained = {};
  // That training or none: a trial that would have to train fails. It may be another build's, whose
  // bits this one's would differ from; the file says so.
  bool only_take_over = false;
  bool restart = false;  // begins anew, whatever checkpoint is there
  std::function<void()> checkpoint_written = {};
};

// One trial from its settings to its file: train, evaluate, measure, prune, publish. Goes on from
// its checkpoint where there is one. Throws what went wrong; then no file is at its path. On
// Interrupted a checkpoint has been written; after success none is left.
void run_trial(const TrialJob& job, ThreadTeam& team, Progress& progress);

}  // namespace headcount
