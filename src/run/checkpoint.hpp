#pragma once

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "evaluate/pass_log.hpp"
#include "run/result.hpp"
#include "train/adamw.hpp"

namespace headcount {

// Where a trial stands between two pieces of its work: all that the rest of it depends on.
struct UnfinishedTrial {
  std::string started;            // UTC, when its first process began
  std::vector<StageTime> stages;  // spent so far
  TrainingRecord training;
  bool trained = false;  // the parameters are those that are evaluated
  TrainedBy trained_by;
  Parameters<float> parameters;
  std::optional<AdamW<float>::Moments> moments;  // while training, before its first step of a run

  // The lowest validation so far, where evaluate.parameters = best.
  double best_nll = std::numeric_limits<double>::infinity();
  std::int64_t best_step = 0;
  Parameters<float> best;

  PassLog passes;  // after training
};

// The checkpoints of a trial lie beside its result: <trial>.checkpoint, and the one before it,
// <trial>.checkpoint.previous, in case the newer is damaged.
std::filesystem::path checkpoint_path(const std::filesystem::path& result);

// Atomic: at any moment one whole checkpoint stands under one of the two names, once there was one.
// `moments` while training. Throws Error (io, cannot_create); the checkpoint before is still there.
void save_checkpoint(const std::filesystem::path& result, const std::string& trial_id,
                     const UnfinishedTrial& state, const AdamW<float>::Moments* moments);

// The newest whole checkpoint of this trial; nothing where there is none. Damaged ones, and those
// of other trials, are passed over and told in `problems`. Throws Error (bad_data) for a checkpoint
// made by another build, or on another instruction-set level: its trial would not end in the bits
// that either would give alone.
std::optional<UnfinishedTrial> load_checkpoint(const std::filesystem::path& result,
                                               const std::string& trial_id,
                                               const Model<float>& model,
                                               std::vector<std::string>& problems);

// One checkpoint, from all of its bytes. `name` is the file's.
UnfinishedTrial read_checkpoint(std::string bytes, const std::string& name,
                                const std::string& trial_id, const Model<float>& model);

bool has_checkpoint(const std::filesystem::path& result);
void remove_checkpoints(const std::filesystem::path& result);

}  // namespace headcount
