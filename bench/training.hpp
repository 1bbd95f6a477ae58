#pragma once

#include "common.hpp"
#include "train/trainer.hpp"

namespace headcount::bench {

// Training in whole steps: a batch is made, the loss is read. Every thread has
// Workload::shards of a batch.
class Training {
 public:
  Training(const Workload& work, int threads, Precision precision = Precision::float32);
  void step() { loss_ = trainer_.step(++done_).loss; }

 private:
  RandomTask task_;
  Model<float> model_;
  HeadTreatment<float> treatment_;
  ThreadTeam team_;
  Parameters<float> parameters_;
  Trainer<float> trainer_;
  std::int64_t done_ = 0;
  double loss_ = 0;
};

}  // namespace headcount::bench
