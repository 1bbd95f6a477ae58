#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "math/cross_entropy.hpp"
#include "math/thread_team.hpp"
#include "model/model.hpp"
#include "task/task.hpp"
#include "train/adamw.hpp"
#include "train/pattern_sums.hpp"
#include "train/schedule.hpp"

namespace headcount {

struct TrainConfig {
  std::int64_t steps = 0;
  std::int64_t batch_tokens = 0;             // about as many tokens a step
  Precision precision = Precision::float32;  // of the inputs of the large products
  int shards = 1;  // pieces a batch is cut into; part of what decides the bits
  Schedule schedule;
  AdamWConfig optimizer;
  double clip = 0;  // largest gradient norm; 0 for none
  std::uint64_t data_seed = 0;
  std::uint64_t dropout_seed = 0;
  std::int64_t record_every = 1;  // steps between records of layer_series()
};

// One training step, measured before its update.
struct StepReport {
  std::int64_t step = 0;  // from 1
  double loss = 0;        // mean nll over the batch's targets, dropout on; nats
  double learning_rate = 0;
  double gradient_norm = 0;  // before clipping
  std::vector<double> layer_gradient_norm;
  // Those of layer_series(): empty except at the first step, every `record_every` and the last.
  std::vector<double> layer_activation_variance, layer_attention_entropy, layer_softmax_saturation;
  std::int64_t tokens = 0;
};

// What is recorded of every layer at some steps, from the training batch itself.
struct LayerSeries {
  const char* name;  // of its dataset
  const char* long_name;
  const char* unit;
  std::vector<double> StepReport::*values;
};
std::span<const LayerSeries> layer_series();

// The loss or a gradient is no longer a number. The message names step and layer.
class TrainingDiverged : public Error {
 public:
  explicit TrainingDiverged(const std::string& message) : Error(ExitCode::bad_data, message) {}
};

// Minimizes the mean nll of a task's training batches. Every bit of the result follows from model,
// task, treatment, configuration and initial parameters; the number of threads in the team does not
// matter.
template <class Real>
class Trainer {
 public:
  // All must outlive the trainer. `treatment` acts in every forward and backward pass.
  Trainer(const Model<Real>& model, const Task& task, const TrainConfig& config,
          const HeadTreatment<Real>& treatment, ThreadTeam& team, Parameters<Real>& parameters);

  // One update, step counting from 1. Throws TrainingDiverged, leaving the parameters as they were.
  StepReport step(std::int64_t step);

  // The optimizer's memory. Training that goes on with the parameters and moments that were there
  // after a step makes the same bits from the next step on.
  typename AdamW<Real>::Moments& moments() { return optimizer_.moments(); }

  // The gradient of the last step, before clipping.
  const Parameters<Real>& gradient() const { return gradient_; }

 private:
  struct Worker {
    ModelWorkspace<Real> workspace;
    Parameters<Real> gradient;
    std::vector<RowLoss<Real>> rows;
    std::vector<Real> weights;
    PatternSums<Real> patterns;
  };

  ModelPass<Real> pass_of(std::int64_t step, Index first_row) const;
  void run_shards(const std::vector<Batch>& shards, std::int64_t step, bool recorded,
                  StepReport& report);
  void measure_gradient(StepReport& report) const;
  [[noreturn]] void report_divergence(const std::vector<Batch>& shards, const StepReport& report);

  const Model<Real>* model_;
  const Task* task_;
  TrainConfig config_;
  const HeadTreatment<Real>* treatment_;
  ThreadTeam* team_;
  Parameters<Real>* parameters_;
  Parameters<Real> gradient_;
  AdamW<Real> optimizer_;
  std::vector<Worker> workers_;
};

}  // namespace headcount
