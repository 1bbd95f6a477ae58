#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "run/work.hpp"
#include "spec/settings.hpp"
#include "task/task.hpp"

namespace headcount {

struct Calibration;

// What the data say of a trial's cost.
struct TaskSizes {
  Index vocabulary = 0, longest = 0;
  std::int64_t validation_examples = 0, test_examples = 0;
  // Means over held-out examples, and over training sequences: T, T² and tokens with a loss.
  BatchShape example, window;
  Index classes = 0;
};
TaskSizes sizes_of(const Task& task);

// A number for each stage of a trial, as in /timing of its file. `train` has its validations.
struct Stages {
  double train = 0, evaluate = 0, measure = 0, prune = 0;
  double total() const { return train + after_training(); }
  double after_training() const { return evaluate + measure + prune; }
};

struct TrialCost {
  std::int64_t parameters = 0;
  double flops = 0;    // in matrix products, large and of heads; a multiply-add is 2
  double bytes = 0;    // most memory at any time, above the program's own; data included
  double seconds = 0;  // of all stages; NaN without a calibration
  Stages stage_flops, stage_seconds;
};

// What a trial will cost on so many threads. Follows run/trial.cpp stage by stage; what a pruning
// order leaves open (which heads are gone) is taken as its mean.
TrialCost trial_cost(const Settings& settings, const TaskSizes& sizes,
                     const Calibration* calibration = nullptr, int threads = 1);

// A trial as a sweep's schedule sees it.
struct PlannedTrial {
  double seconds = 0;
  std::optional<std::size_t> after = std::nullopt;  // the trial whose training it takes over
};

// When the last trial ends if `jobs` run side by side, always the longest of those that can start.
double sweep_seconds(const std::vector<PlannedTrial>& trials, int jobs);

}  // namespace headcount
