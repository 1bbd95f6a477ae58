#include "training.hpp"

#include <limits>

namespace headcount::bench {
namespace {

TrainConfig training_of(const Workload& work, int threads, Precision precision) {
  TrainConfig config;
  config.steps = std::numeric_limits<std::int64_t>::max();
  config.batch_tokens = work.tokens();
  config.precision = precision;
  config.shards = threads * work.shards;
  config.schedule = {ScheduleKind::constant, 3e-4, 0, config.steps};
  config.optimizer.weight_decay = 0.01;
  config.record_every = config.steps;
  return config;
}

}  // namespace

Training::Training(const Workload& work, int threads, Precision precision)
    : task_(work),
      model_(work.model),
      treatment_(HeadTreatment<float>::intact(model_.heads())),
      team_(threads),
      parameters_(model_.initial_parameters("normal", 1)),
      trainer_(model_, task_, training_of(work, threads, precision), treatment_, team_,
               parameters_) {}

}  // namespace headcount::bench
