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

std::vector<TaskKey> keys_of_all_tasks() {
  return {{"task.kind", TaskKey::Choice{"language-model", tasks().names()}, "what is learned"},
          {"task.data", TaskKey::Text{"austen"},
           "a named source (headcount list data), file:PATH or conllu:PATH"}};
}

// Text, how it becomes tokens, and then what is made up.
std::vector<TaskKey> keys_of_entries() {
  auto keys = keys_of_all_tasks();
  for (const auto& task : tasks().entries()) add(task.keys, keys);
  for (const auto& source : data_sources().entries())
    if (source.read || source.read_labelled) add(source.keys, keys);
  for (const auto& tokenizer : tokenizers().entries()) add(tokenizer.keys, keys);
  for (const auto& source : data_sources().entries())
    if (source.generate) add(source.keys, keys);
  return keys;
}

std::vector<TaskKey> keys_of(const TaskConfig& config) {
  auto keys = keys_of_all_tasks();
  const DataSource& source = find_data_source(config);
  add(source.keys, keys);
  if (source.read || source.read_labelled) {
    add(tasks().at(config.text("task.kind")).keys, keys);
    add(tokenizers().at(config.text("task.tokenizer")).keys, keys);
  }
  return keys;
}

}  // namespace

const Registry<TaskEntry>& tasks() {
  static const Registry<TaskEntry> registry("task", {
#define HEADCOUNT_ENTRY(entry) entry(),
#include "task/tasks.def"
#undef HEADCOUNT_ENTRY
                                                    });
  return registry;
}

const std::vector<TaskKey>& task_keys() {
  static const std::vector<TaskKey> keys = keys_of_entries();
  return keys;
}

std::vector<std::string> keys_without_effect(const TaskConfig& config) {
  const auto asked_for = keys_of(config);
  std::vector<std::string> names;
  for (const TaskKey& key : task_keys())
    if (!config.is_default(key) && std::ranges::find(asked_for, key) == asked_for.end())
      names.push_back(key.name);
  return names;
}

std::unique_ptr<Task> make_task(const TaskConfig& config) {
  return tasks().at(config.text("task.kind")).make(config);
}

std::string data_report(const TaskConfig& config) {
  return fmt::format("data: {}\ntask: {}\n", config.text("task.data"), config.text("task.kind")) +
         make_task(config)->report();
}

}  // namespace headcount
