#include "run/task_cache.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "run/config.hpp"
#include "task/make_task.hpp"

namespace headcount {

std::string TaskCache::key_of(const Settings& settings) {
  return settings.sections({"task"}).to_text();
}

const Task& TaskCache::task(const Settings& settings) {
  const auto key = key_of(settings);
  const auto found =
      std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.key == key; });
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
    return *kept_.front().task;
  }
  if (kept_.size() == kKept) kept_.pop_back();  // first: two large tasks may be one too many
  auto task = make_task(task_config(settings));
  const auto hash = task->data_hash();
  if (hashes_.try_emplace(key, hash).first->second != hash)
    throw Error(ExitCode::bad_data,
                fmt::format("task.data = {} has changed while the sweep runs; run it again",
                            settings.text("task.data")));
  kept_.push_front({key, std::move(task)});
  return *kept_.front().task;
}

}  // namespace headcount
