#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "model/model.hpp"
#include "run/result.hpp"
#include "spec/settings.hpp"
#include "store/reader.hpp"
#include "task/task.hpp"

namespace headcount {

// A finished trial brought back to life from its file: settings, data, model and trained
// parameters.
class StoredTrial {
 public:
  // Throws Error: bad_data where the file is not a whole result, its data have changed since, or
  // its parameters do not fit the model its spec describes; no_input where file or data are
  // missing.
  explicit StoredTrial(const std::filesystem::path& path);

  const Settings& settings() const { return settings_; }
  const Task& task() const { return *task_; }
  const Model<float>& model() const { return *model_; }
  const Parameters<float>& parameters() const { return parameters_; }

 private:
  Settings settings_;
  std::unique_ptr<Task> task_;
  std::unique_ptr<Model<float>> model_;
  Parameters<float> parameters_;
};

// The settings a trial file was made with.
Settings stored_settings(const ResultFile& file);

// The training of a finished trial, for another that would train the same model.
struct StoredTraining {
  TrainedBy by;
  TrainingRecord record;
  Parameters<float> parameters;
};

// Throws Error (bad_data), with the reason, where the file is no whole result, or the training of
// `settings` on these data by this build and processor would not give the same bits or not the same
// record of them. `any_build` takes those of other builds and processors, too.
StoredTraining read_training(const std::filesystem::path& path, const Settings& settings,
                             const std::string& data_hash, const Model<float>& model,
                             bool any_build = false);

}  // namespace headcount
