#include "run/stored_trial.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "run/config.hpp"
#include "run/schema.hpp"
#include "spec/experiment.hpp"
#include "task/make_task.hpp"

namespace headcount {

Settings stored_settings(const ResultFile& file) {
  const auto name = file.path().string();
  const auto experiment =
      parse_experiment(file.read_text("/spec/resolved"), name + "/spec/resolved",
                       experiment_schema(), {}, check_settings);
  if (experiment.trials.size() != 1)
    throw Error(ExitCode::bad_data, fmt::format("{} does not hold the spec of one trial", name));
  return experiment.trials.front().settings;
}

StoredTrial::StoredTrial(const std::filesystem::path& path) {
  const ResultFile file(path);  // first: a missing file is another error than a broken one
  if (const auto problem = validate(path)) throw Error(ExitCode::bad_data, *problem);
  settings_ = stored_settings(file);
  task_ = make_task(task_config(settings_));
  const auto hash = file.attribute_text("/", "data_hash");
  if (task_->data_hash() != hash)
    throw Error(
        ExitCode::bad_data,
        fmt::format("{} was made from other data: task.data = {} has hash {}, the file has {}",
                    path.string(), settings_.text("task.data"), task_->data_hash().substr(0, 12),
                    hash.substr(0, 12)));
  model_ = std::make_unique<Model<float>>(
      model_config(settings_, task_->vocabulary_size(), task_->longest_sequence()));
  parameters_ = Parameters<float>(model_->layout());
  for (const auto& entry : model_->layout().entries()) {
    const std::string dataset = "/model/" + entry.name;
    const auto shape = file.shape(dataset);
    auto view = parameters_.view(entry.block);
    if (shape.size() != 2 || static_cast<Index>(shape[0]) != view.rows() ||
        static_cast<Index>(shape[1]) != view.cols())
      throw Error(ExitCode::bad_data,
                  fmt::format("{}: {} has not the shape [{}, {}] that its spec asks for",
                              path.string(), dataset, view.rows(), view.cols()));
    const auto values = file.read<float>(dataset);
    view = Eigen::Map<const Matrix<float>>(values.data(), view.rows(), view.cols());
  }
}

}  // namespace headcount
