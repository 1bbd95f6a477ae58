#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "model/model.hpp"
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

}  // namespace headcount
