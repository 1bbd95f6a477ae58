#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/registry.hpp"
#include "task/config.hpp"
#include "task/task.hpp"

namespace headcount {

struct TaskEntry {
  About about;
  std::vector<TaskKey> keys;
  std::unique_ptr<Task> (*make)(const TaskConfig&);
};

const Registry<TaskEntry>& tasks();

// Every key of the [task] section: task.kind, task.data, and those of the entries of tasks(),
// data_sources() and tokenizers(), each once. Throws Error (internal) when two entries declare one
// name differently.
const std::vector<TaskKey>& task_keys();

// The keys set to something else than their default that the task of `config` does not ask for:
// they belong to another kind, source or tokenizer and would have no effect. Throws Error
// (bad_data) for an unknown source.
std::vector<std::string> keys_without_effect(const TaskConfig& config);

// Reads, fetches or generates the data and makes the task of a spec. Throws Error: bad_data for a
// value out of range, an unknown name, broken text, or a split without targets; no_input where data
// is missing and cannot be fetched.
std::unique_ptr<Task> make_task(const TaskConfig& config);

// What `headcount data NAME` prints: where the data lies, sizes, splits, vocabulary, hash. Makes
// the task first, with its errors.
std::string data_report(const TaskConfig& config);

// The entries, one file each.
#define HEADCOUNT_ENTRY(entry) TaskEntry entry();
#include "task/tasks.def"
#undef HEADCOUNT_ENTRY

}  // namespace headcount
