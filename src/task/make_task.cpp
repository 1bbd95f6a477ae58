#include "task/make_task.hpp"

#include <fmt/format.h>

namespace headcount {

const Registry<TaskEntry>& tasks() {
  static const Registry<TaskEntry> registry("task", {language_model_task()});
  return registry;
}

std::unique_ptr<Task> make_task(const TaskConfig& config) {
  return tasks().at(config.kind).make(config);
}

std::string data_report(const TaskConfig& config) {
  return fmt::format("data: {}\ntask: {}\n", config.data, config.kind) +
         make_task(config)->report();
}

}  // namespace headcount
