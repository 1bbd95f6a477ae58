#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "task/config.hpp"
#include "task/data_source.hpp"
#include "task/task.hpp"
#include "task/tokenizer.hpp"
#include "task/windows.hpp"

namespace headcount {

// Text of a source, split and cut into tokens and windows: what the tasks over running text share.
struct TextData {
  std::unique_ptr<Tokenizer> tokenizer;
  TrainingWindows windows;
  HeldOut held_out;
  std::int64_t longest = 0;  // sequence in any split
  std::string hash;          // over all that determines these, and the kind of task
  std::string facts;         // lines of Task::report()
};

// Throws Error, as make_task() does.
TextData read_text_data(const TaskConfig& config, const DataSource& source, WindowTargets targets);

// The keys that it reads.
std::vector<TaskKey> text_keys();

}  // namespace headcount
