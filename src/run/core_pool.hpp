#pragma once

#include <optional>
#include <vector>

#include "base/process.hpp"

namespace headcount {

// Cores for the running trials of a sweep, each of which keeps one for itself: caches stay warm,
// and no two trials meet on a core while another is idle. There are none to be had for a single
// job, for trials of several threads, and where jobs are more than the cores allowed: then the
// system knows better.
class CorePool {
 public:
  CorePool(int jobs, int threads, std::vector<int> allowed = allowed_cores());

  std::optional<int> take();
  void give_back(std::optional<int> core);

 private:
  std::vector<int> free_;  // the next one last
};

}  // namespace headcount
