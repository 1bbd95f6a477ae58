#pragma once

#include <map>
#include <string>
#include <vector>

#include "measure/measure.hpp"
#include "model/model.hpp"
#include "prune/curve.hpp"
#include "prune/latency.hpp"
#include "spec/settings.hpp"
#include "task/task.hpp"
#include "train/trainer.hpp"

namespace headcount {

// What one validation during training found.
struct Validation {
  std::int64_t step = 0;
  double nll = 0;
  std::vector<HeadScores> heads;  // of measure.during-training
};

// What training found, step by step.
struct TrainingRecord {
  std::vector<StepReport> steps;
  std::vector<Validation> validations;
  std::int64_t parameters_step = 0;  // after which the parameters are those that are evaluated
  double tokens_per_second = 0;      // validations included
};

// The trial whose training was taken over, and the commit of its build; "" for its own.
struct TrainedBy {
  std::string trial, commit;
};

// How long a stage took, in all the processes that worked on it.
struct StageTime {
  std::string name;
  double wall_seconds = 0, cpu_seconds = 0;
};

// Everything one trial found; what a trial file holds.
struct TrialResult {
  std::string experiment, question, source;
  std::string trial_id, model_id, data_hash;
  Settings settings;

  TrainingRecord training;
  TrainedBy trained_by;
  std::string parameters_are;  // "last" or "best"

  struct Evaluation {
    SplitName split{};
    std::vector<ExampleStatistics> examples;   // under the mask, if one acts
    std::vector<ExampleStatistics> intact;     // empty where no mask acts
    std::vector<ExampleStatistics> generated;  // under the mask, as in generation; may be empty
    std::vector<std::string> clusters;
    std::vector<std::int64_t> example_classes;  // the right ones; empty without classes
  };
  std::vector<std::string> metrics;
  std::vector<std::string> classes;  // names; empty where a target is no class
  std::vector<Evaluation> evaluations;

  HeadCounts heads;
  HeadMap<std::uint8_t> head_state;  // 0 never, 1 present, 2 removed
  std::vector<HeadScores> measures;

  struct Pattern {
    HeadId id;
    std::int64_t sequence = 0;
    Matrix<float> weights;  // [query_pos, key_pos]
  };
  std::vector<Pattern> patterns;
  std::vector<std::vector<std::string>> pattern_tokens;  // per sequence
  SplitName pattern_split{};

  struct Pruning {
    std::string method;
    SplitName chosen_on{}, reported_on{};
    std::vector<PruningCurve> curves;  // one per order
  };
  std::vector<Pruning> prunings;

  // Of a smaller model that was built: the first order of each method.
  struct BuiltLatency {
    std::string method;
    int heads_left = 0;
    std::vector<Latency> passes;  // by the number of sequences
  };
  std::vector<BuiltLatency> latencies;

  const Model<float>* model = nullptr;
  const Parameters<float>* parameters = nullptr;

  std::vector<StageTime> stages;
  std::string started, ended;  // UTC
  int threads = 1;
};

}  // namespace headcount
