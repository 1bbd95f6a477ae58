#include "evaluate/evaluator.hpp"

#include <optional>

#include <fmt/format.h>


namespace headcount {
namespace {

PackedTokens packed(const Batch& batch) { return {batch.input.tokens, batch.input.offsets}; }

// `wanted` examples of a split, evenly spread; all of them for 0.
Split spread_over(const Split& split, std::int64_t wanted) {
  const auto have = static_cast<std::int64_t>(split.examples.size());
  if (wanted <= 0 || wanted >= have) return split;
  Split chosen;
  chosen.clusters = split.clusters;
  for (std::int64_t i = 0; i < wanted; ++i)
    chosen.examples.push_back(split.examples[static_cast<std::size_t>(i * have / wanted)]);
  return chosen;
}

template <class Real>
class ToExamples : public HeadObserver<Real> {
 public:
  ToExamples(ExampleObserver<Real>& observer, Index first) : observer_(&observer), first_(first) {}
  void observe(const HeadObservation<Real>& observation) override {
    observer_->observe(first_ + observation.sequence, observation);
  }

 private:
  ExampleObserver<Real>* observer_;
  Index first_;
};

}  // namespace

template <class Real>
Evaluator<Real>::Evaluator(const Model<Real>& model, const Parameters<Real>& parameters,
                           const Task& task, SplitName split, std::int64_t examples,
                           ThreadTeam& team, std::int64_t batch_tokens)
    : model_(&model),
      parameters_(&parameters),
      team_(&team),
      split_(split),
      workers_(std::make_shared<std::vector<Worker>>(static_cast<std::size_t>(team.size()))) {
  const Split chosen = spread_over(task.split(split), examples);
  if (chosen.examples.empty())
    throw Error(ExitCode::bad_data,
                fmt::format("the {} split is empty; give it a share with task.{}", name_of(split),
                            name_of(split)));
  for (const auto& example : chosen.examples) {
    ExampleStatistics facts;
    facts.characters = example.characters;
    facts.cluster = example.cluster;
    for (const auto target : example.targets) facts.targets += target != kNoTarget;
    facts_.push_back(facts);
  }
  std::vector<Packed> batches;
  Index first = 0;
  for (auto& batch : pack(chosen, batch_tokens)) {
    Packed piece;
    piece.first = first;
    for (std::int64_t b = 0; b < batch.input.count(); ++b) {
      const auto targets = facts_[static_cast<std::size_t>(first + b)].targets;
      piece.weights.insert(piece.weights.end(), static_cast<std::size_t>(batch.input.length(b)),
                           static_cast<Real>(1.0 / static_cast<double>(targets)));
    }
    first += batch.input.count();
    piece.batch = std::move(batch);
    batches.push_back(std::move(piece));
  }
  batches_ = std::make_shared<const std::vector<Packed>>(std::move(batches));
}

template <class Real>
Evaluator<Real> Evaluator<Real>::with(const Model<Real>& model,
                                      const Parameters<Real>& parameters) const {
  Evaluator other(*this);
  other.model_ = &model;
  other.parameters_ = &parameters;
  return other;
}

template <class Real>
std::vector<ExampleStatistics> Evaluator<Real>::run(const HeadTreatment<Real>& treatment,
                                                    ExampleObserver<Real>* observer) const {
  auto statistics = facts_;
  team_->run(static_cast<int>(batches_->size()), [&](int piece, int which) {
    auto& worker = (*workers_)[static_cast<std::size_t>(which)];
    const auto& [batch, weights, first] = (*batches_)[static_cast<std::size_t>(piece)];
    ModelPass<Real> pass;
    pass.treatment = &treatment;
    std::optional<ToExamples<Real>> to_examples;
    if (observer) pass.observer = &to_examples.emplace(*observer, first);
    model_->forward(*parameters_, packed(batch), pass, worker.workspace);
    cross_entropy<Real>(worker.workspace.logits.view(), batch.targets, nullptr, worker.rows);
    for (std::int64_t b = 0; b < batch.input.count(); ++b) {
      auto& example = statistics[static_cast<std::size_t>(first + b)];
      for (auto i = batch.input.offsets[static_cast<std::size_t>(b)];
           i < batch.input.offsets[static_cast<std::size_t>(b) + 1]; ++i) {
        example.nll += static_cast<double>(worker.rows[static_cast<std::size_t>(i)].nll);
        example.correct += worker.rows[static_cast<std::size_t>(i)].correct;
      }
    }
  });
  return statistics;
}

template <class Real>
GateGradients Evaluator<Real>::gate_gradients(const HeadTreatment<Real>& treatment) const {
  GateGradients result;
  result.values = Matrix<double>::Zero(examples(), model_->heads().total());
  team_->run(static_cast<int>(batches_->size()), [&](int piece, int which) {
    auto& worker = (*workers_)[static_cast<std::size_t>(which)];
    const auto& [batch, weights, first] = (*batches_)[static_cast<std::size_t>(piece)];
    ModelPass<Real> pass;
    pass.treatment = &treatment;
    pass.gate_gradients = true;
    model_->forward(*parameters_, packed(batch), pass, worker.workspace);
    auto logits = worker.workspace.logits.view();
    cross_entropy<Real>(logits, batch.targets, weights.data(), worker.rows);
    model_->backward(*parameters_, packed(batch), pass, logits, worker.workspace, nullptr);
    result.values.middleRows(first, batch.input.count()) =
        worker.workspace.gate_gradients.view().template cast<double>();
  });
  return result;
}

template class Evaluator<float>;
template class Evaluator<double>;

}  // namespace headcount
