#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "evaluate/pass_log.hpp"
#include "math/cross_entropy.hpp"
#include "math/thread_team.hpp"
#include "model/model.hpp"
#include "score/scores.hpp"
#include "task/task.hpp"

namespace headcount {

// Told of every present head on every example of a split. Calls come from several threads, those
// for one example from one; so what is kept per example needs no lock and does not depend on the
// number of threads.
template <class Real>
class ExampleObserver {
 public:
  virtual ~ExampleObserver() = default;
  virtual void observe(Index example, const HeadObservation<Real>& observation) = 0;
};

// ∂L(x)/∂ξ for every example x and head; L(x) is the mean nll over the example's targets, dropout
// off.
struct GateGradients {
  Matrix<double>
      values;  // [examples, all heads in the order of HeadCounts::all()]; removed heads 0
};

// What a model loses with each of some heads.
struct Ablations {
  std::vector<ExampleStatistics> intact;                // under the treatment as it is
  std::vector<std::vector<ExampleStatistics>> without;  // per head: its gate at 0 besides
};

// One pass over a split under given gates. Keeps the packed batches, so that many passes
// (ablations, pruning curves) cost no repacking.
template <class Real>
class Evaluator {
 public:
  // At most `examples` examples, spread evenly over the split (0: all), in batches of about
  // `batch_tokens` tokens. model, parameters and team must outlive it. Throws Error (bad_data)
  // where the split has none.
  Evaluator(const Model<Real>& model, const Parameters<Real>& parameters, const Task& task,
            SplitName split, std::int64_t examples, ThreadTeam& team,
            std::int64_t batch_tokens = 2048);
  // All of these examples, of the split so named.
  Evaluator(const Model<Real>& model, const Parameters<Real>& parameters, const Split& examples,
            SplitName split, ThreadTeam& team, std::int64_t batch_tokens = 2048);

  const Model<Real>& model() const { return *model_; }
  const Parameters<Real>& parameters() const { return *parameters_; }
  SplitName split() const { return split_; }
  std::int64_t examples() const { return static_cast<std::int64_t>(facts_.size()); }
  // The place in the split of each example, in order.
  const std::vector<std::int64_t>& example_indices() const { return indices_; }

  // From now on passes are looked up in, and added to, this log; not those with an observer, whose
  // results the evaluator does not know. The log must outlive it.
  void keep_in(PassLog& log) { log_ = &log; }

  // The same examples through another model with the same vocabulary (a physically smaller one).
  Evaluator with(const Model<Real>& model, const Parameters<Real>& parameters) const;

  // Loss and correctness per example, in order.
  std::vector<ExampleStatistics> run(const HeadTreatment<Real>& treatment,
                                     ExampleObserver<Real>* observer = nullptr) const;

  // The same as in generation: every target is predicted from the tokens up to its own position and
  // no others. Of a causal model that is run() but for rounding; a model that looks ahead is shown
  // for what it is. Costs a pass over every prefix. Targets must be those of tokens.
  std::vector<ExampleStatistics> run_as_generated(const HeadTreatment<Real>& treatment) const;

  // run() with the gate of each of these heads (present, ascending) at 0, one at a time. Equal to
  // masking them and running again but for rounding, at about half the cost: activations below a
  // head's layer are used again.
  Ablations ablations(const HeadTreatment<Real>& treatment, const std::vector<HeadId>& heads) const;

  // One forward and one activation-only backward pass. Independent of batching: every example's
  // loss has its own weights 1/targets, and the attention backward runs per sequence.
  GateGradients gate_gradients(const HeadTreatment<Real>& treatment) const;

 private:
  struct Packed {
    Batch batch;
    std::vector<Real> weights;  // per target, 1 / targets of its example
    Index first = 0;            // example of the first sequence
  };
  struct Worker {
    ModelWorkspace<Real> workspace;
    AblationWorkspace<Real> ablation;
    std::vector<RowLoss<Real>> rows;
  };

  std::string pass_name(const char* kind, const HeadTreatment<Real>& treatment,
                        const std::vector<HeadId>& heads = {}) const;
  Ablations make_ablations(const HeadTreatment<Real>& treatment,
                           const std::vector<HeadId>& heads) const;
  void add_losses(const Packed& work, const std::vector<RowLoss<Real>>& rows,
                  std::vector<ExampleStatistics>& statistics) const;
  std::vector<ExampleStatistics> make_run(const HeadTreatment<Real>& treatment,
                                          ExampleObserver<Real>* observer) const;
  std::vector<ExampleStatistics> make_run_as_generated(const HeadTreatment<Real>& treatment) const;
  // What a pass found, looked up in the log or made.
  template <class Make>
  std::vector<ExampleStatistics> logged(const char* kind, const HeadTreatment<Real>& treatment,
                                        const Make& make) const;
  Matrix<double> make_gate_gradients(const HeadTreatment<Real>& treatment) const;

  const Model<Real>* model_;
  const Parameters<Real>* parameters_;
  ThreadTeam* team_;
  SplitName split_;
  std::int64_t batch_tokens_;
  std::vector<std::int64_t> indices_;  // of each example in its split
  std::vector<ExampleStatistics>
      facts_;  // what is known before any pass: targets, characters, cluster
  std::shared_ptr<const std::vector<Packed>> batches_;
  std::shared_ptr<std::vector<Worker>> workers_;  // one per thread
  PassLog* log_ = nullptr;
};

}  // namespace headcount
