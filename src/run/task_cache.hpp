#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>

#include "spec/settings.hpp"
#include "task/task.hpp"

namespace headcount {

// The data of trials, made once for all that have the same [task]; a few are kept.
class TaskCache {
 public:
  static constexpr std::size_t kKept = 4;

  // Trials with equal keys share their data.
  static std::string key_of(const Settings& settings);

  // Valid until kKept others were asked for. Errors: those of make_task, and bad_data when data
  // that had to be made again have changed meanwhile.
  const Task& task(const Settings& settings);

 private:
  struct Kept {
    std::string key;
    std::unique_ptr<Task> task;
  };
  std::list<Kept> kept_;                       // the last used first
  std::map<std::string, std::string> hashes_;  // of data, by key
};

}  // namespace headcount
