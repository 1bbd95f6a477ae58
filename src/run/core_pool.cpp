#include "run/core_pool.hpp"

#include <algorithm>
#include <utility>

namespace headcount {

CorePool::CorePool(int jobs, int threads, std::vector<int> allowed) {
  if (jobs < 2 || threads > 1 || std::cmp_less(allowed.size(), jobs)) return;
  free_.assign(allowed.begin(), allowed.begin() + jobs);
  std::reverse(free_.begin(), free_.end());
}

std::optional<int> CorePool::take() {
  if (free_.empty()) return std::nullopt;
  const int core = free_.back();
  free_.pop_back();
  return core;
}

void CorePool::give_back(std::optional<int> core) {
  if (core) free_.push_back(*core);
}

}  // namespace headcount
