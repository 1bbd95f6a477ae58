#include "training.hpp"

#include <limits>

namespace headcount::bench {
namespace {

TrainConfig training_of(const Workload& work, int threads) {
  TrainConfig config;
  config.steps = std::numeric_limits<std::int64_t>::max();
  config.batch_tokens = work.tokens();
  config.shards = threads;
  config.schedule = {ScheduleKind::constant, 3e-4, 0, config.steps};
  config.optimizer.weight_decay = 0.01;
  config.record_every = config.steps;
  return config;
}

}  // namespace

Training::Training(const Workload& work, int threads)
    : task_(work),
      model_(work.model),
      treatment_(HeadTreatment<float>::intact(model_.heads())),
      team_(threads),
      parameters_(model_.initial_parameters("normal", 1)),
      trainer_(model_, task_, training_of(work, threads), treatment_, team_, parameters_) {}

}  // namespace headcount::bench
