#pragma once

#include "spec/settings.hpp"
#include "task/task.hpp"

namespace headcount {

// What a trial will take, roughly: good for an order and for shares of time and memory.
struct Estimate {
  double operations = 0;  // floating-point
  double bytes = 0;       // of memory, the data aside
};
Estimate estimate(const Settings& settings, const Task& task, int threads);

}  // namespace headcount
