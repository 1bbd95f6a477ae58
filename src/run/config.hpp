#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/model.hpp"
#include "spec/experiment.hpp"
#include "spec/settings.hpp"
#include "task/config.hpp"
#include "task/task.hpp"
#include "train/trainer.hpp"

namespace headcount {

// A trial's settings as the modules want them.

TaskConfig task_config(const Settings& settings);

// The keys of [task] that no trial's task asks for, though they are set: see make_task.hpp.
std::vector<std::string> keys_without_effect(const Experiment& experiment);

// The heads of every layer, from model.heads and model.layers.
HeadCounts head_counts(const Settings& settings);

// Vocabulary, longest sequence and classes (0: none) come from the data.
ModelConfig model_config(const Settings& settings, Index vocabulary, Index longest,
                         Index classes = 0);
ModelConfig model_config(const Settings& settings, const Task& task);

TrainConfig train_config(const Settings& settings);

// Heads that [mask] masks; none without one. `training`: those masked while training, else while
// evaluating.
struct MaskConfig {
  std::vector<HeadId> heads;
  MaskKind kind = MaskKind::zero;
};
MaskConfig mask_config(const Settings& settings, bool training);

// Identifies the trained parameters: data, task, model, attention, training and seeds, and the mask
// where it acts in training. Trials with the same model id train the same model.
std::string model_id(const Settings& settings, const std::string& data_hash);

// Whether both settings train the same model and record the same of its training: that is the
// model id's keys and those that say what is validated, and measured on the way. Then a trial can
// take over the training of the other.
bool same_training(const Settings& a, const Settings& b);

// What is wrong with settings that are each well formed; for parse_experiment.
std::vector<KeyProblem> check_settings(const Settings& settings);

}  // namespace headcount
