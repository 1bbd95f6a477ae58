#include "task/make_task.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "task/data_source.hpp"
#include "task/tokenizer.hpp"

namespace headcount {
namespace {

void add(const std::vector<TaskKey>& more, std::vector<TaskKey>& keys) {
  for (const TaskKey& key : more) {
    const auto known = std::ranges::find(keys, key.name, &TaskKey::name);
    if (known == keys.end())
      keys.push_back(key);
    else if (*known != key)
      throw Error(ExitCode::internal, fmt::format("{} is declared in two ways", key.name));
  }
}

// Text, how it becomes tokens, and then what is made up.
std::vector<TaskKey> keys_of_entries() {
  std::vector<TaskKey> keys{
      {"task.kind", TaskKey::Choice{"language-model", tasks().names()}, "what is learned"},
      {"task.data", TaskKey::Text{"austen"},
       "a named source (headcount list data), file:PATH or conllu:PATH"}};
  for (const auto& task : tasks().entries()) add(task.keys, keys);
  for (const auto& source : data_sources().entries())
    if (source.read || source.read_labelled) add(source.keys, keys);
  for (const auto& tokenizer : tokenizers().entries()) add(tokenizer.keys, keys);
  for (const auto& source : data_sources().entries())
    if (source.generate) add(source.keys, keys);
  return keys;
}

}  // namespace

const Registry<TaskEntry>& tasks() {
  static const Registry<TaskEntry> registry(
      "task", {language_model_task(), masked_lm_task(), classify_task()});
  return registry;
}

const std::vector<TaskKey>& task_keys() {
  static const std::vector<TaskKey> keys = keys_of_entries();
  return keys;
}

std::unique_ptr<Task> make_task(const TaskConfig& config) {
  return tasks().at(config.text("task.kind")).make(config);
}

std::string data_report(const TaskConfig& config) {
  return fmt::format("data: {}\ntask: {}\n", config.text("task.data"), config.text("task.kind")) +
         make_task(config)->report();
}

}  // namespace headcount
