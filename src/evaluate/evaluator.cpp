#include "evaluate/evaluator.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "base/sha256.hpp"

namespace headcount {
namespace {

PackedTokens packed(const Batch& batch) { return {batch.input.tokens, batch.input.offsets}; }

// The places of `wanted` of `have` examples, evenly spread; all of them for 0.
std::vector<std::int64_t> spread_over(std::int64_t have, std::int64_t wanted) {
  if (wanted <= 0 || wanted > have) wanted = have;
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < wanted; ++i) places.push_back(i * have / wanted);
  return places;
}

Split some_of(const Split& split, std::int64_t wanted) {
  Split chosen;
  chosen.targets_per = split.targets_per;
  for (const auto place : spread_over(std::ssize(split.examples), wanted))
    chosen.examples.push_back(split.examples[static_cast<std::size_t>(place)]);
  return chosen;
}

// A packed batch cut into prefixes: sequence b with targets at k positions becomes k examples, the
// tokens up to each with the one target there.
struct Prefixes {
  Split split;
  std::vector<std::int64_t> sequence;  // of each prefix
};

Prefixes prefixes_of(const Batch& batch) {
  Prefixes cut;
  for (std::int64_t b = 0; b < batch.input.count(); ++b) {
    const auto begin = batch.input.offsets[static_cast<std::size_t>(b)];
    const auto tokens = std::span(batch.input.tokens).subspan(static_cast<std::size_t>(begin));
    const auto targets = std::span(batch.targets).subspan(static_cast<std::size_t>(begin));
    for (std::size_t i = 0; i < static_cast<std::size_t>(batch.input.length(b)); ++i) {
      if (targets[i] == kNoTarget) continue;
      auto& prefix = cut.split.examples.emplace_back();
      prefix.input.assign(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      prefix.targets.assign(i, kNoTarget);
      prefix.targets.push_back(targets[i]);
      cut.sequence.push_back(b);
    }
  }
  return cut;
}

// What a pass finds, as numbers of a log: two an example.
void append(std::vector<double>& numbers, const std::vector<ExampleStatistics>& statistics) {
  for (const auto& example : statistics) {
    numbers.push_back(example.nll);
    numbers.push_back(static_cast<double>(example.correct));
  }
}

// The `which`-th statistics of those in a log.
void take(const std::vector<double>& numbers, std::size_t which,
          std::vector<ExampleStatistics>& statistics) {
  std::size_t next = 2 * which * statistics.size();
  for (auto& example : statistics) {
    example.nll = numbers.at(next++);
    example.correct = static_cast<std::int64_t>(numbers.at(next++));
  }
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
    : Evaluator(model, parameters, some_of(task.split(split), examples), split, team,
                batch_tokens) {
  indices_ = spread_over(std::ssize(task.split(split).examples), examples);
}

template <class Real>
Evaluator<Real>::Evaluator(const Model<Real>& model, const Parameters<Real>& parameters,
                           const Split& chosen, SplitName split, ThreadTeam& team,
                           std::int64_t batch_tokens)
    : model_(&model),
      parameters_(&parameters),
      team_(&team),
      split_(split),
      batch_tokens_(batch_tokens),
      workers_(std::make_shared<std::vector<Worker>>(static_cast<std::size_t>(team.size()))) {
  indices_ = spread_over(std::ssize(chosen.examples), 0);
  require_targets_per(model.config().classes > 0 ? TargetsPer::sequence : TargetsPer::token,
                      chosen.targets_per);
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
      piece.weights.insert(
          piece.weights.end(),
          static_cast<std::size_t>(batch.first_target(b + 1) - batch.first_target(b)),
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

// Also tells apart what is treated: which heads the model still has.
template <class Real>
std::string Evaluator<Real>::pass_name(const char* kind, const HeadTreatment<Real>& treatment,
                                       const std::vector<HeadId>& heads) const {
  Sha256 gates;
  for (const auto& id : model_->present_heads()) {
    gates.add(fmt::format("{} {} {};", to_string(id), treatment.gate.at(id),
                          static_cast<int>(treatment.context.at(id))));
    const auto& mean = treatment.mean.at(id);
    gates.add(mean.data(), static_cast<std::size_t>(mean.size()) * sizeof(Real));
  }
  for (const auto& id : heads) gates.add(to_string(id) + ";");
  return fmt::format("{} {} {} {}", kind, name_of(split_), examples(), gates.hex().substr(0, 16));
}

template <class Real>
template <class Make>
std::vector<ExampleStatistics> Evaluator<Real>::logged(const char* kind,
                                                       const HeadTreatment<Real>& treatment,
                                                       const Make& make) const {
  if (!log_) return make();
  const auto numbers = log_->next(pass_name(kind, treatment), [&] {
    std::vector<double> made;
    append(made, make());
    return made;
  });
  auto statistics = facts_;
  take(numbers, 0, statistics);
  return statistics;
}

template <class Real>
std::vector<ExampleStatistics> Evaluator<Real>::run(const HeadTreatment<Real>& treatment,
                                                    ExampleObserver<Real>* observer) const {
  if (observer) return make_run(treatment, observer);
  return logged("run", treatment, [&] { return make_run(treatment, nullptr); });
}

template <class Real>
std::vector<ExampleStatistics> Evaluator<Real>::run_as_generated(
    const HeadTreatment<Real>& treatment) const {
  return logged("generated", treatment, [&] { return make_run_as_generated(treatment); });
}

// Batch by batch, since the prefixes of all examples may be many times their memory.
template <class Real>
std::vector<ExampleStatistics> Evaluator<Real>::make_run_as_generated(
    const HeadTreatment<Real>& treatment) const {
  require_targets_per(TargetsPer::token, (*batches_)[0].batch.targets_per);
  auto statistics = facts_;
  for (const Packed& work : *batches_) {
    const auto prefixes = prefixes_of(work.batch);
    if (prefixes.sequence.empty()) continue;
    const Evaluator pieces(*model_, *parameters_, prefixes.split, split_, *team_, batch_tokens_);
    const auto found = pieces.run(treatment);
    for (std::size_t i = 0; i < found.size(); ++i) {
      auto& example = statistics[static_cast<std::size_t>(work.first + prefixes.sequence[i])];
      example.nll += found[i].nll;
      example.correct += found[i].correct;
    }
  }
  return statistics;
}

template <class Real>
Ablations Evaluator<Real>::ablations(const HeadTreatment<Real>& treatment,
                                     const std::vector<HeadId>& heads) const {
  if (!log_) return make_ablations(treatment, heads);
  const auto numbers = log_->next(pass_name("ablations", treatment, heads), [&] {
    const auto found = make_ablations(treatment, heads);
    std::vector<double> made;
    append(made, found.intact);
    for (const auto& statistics : found.without) append(made, statistics);
    return made;
  });
  Ablations found{facts_, {heads.size(), facts_}};
  take(numbers, 0, found.intact);
  for (std::size_t h = 0; h < heads.size(); ++h) take(numbers, h + 1, found.without[h]);
  return found;
}

template <class Real>
std::vector<ExampleStatistics> Evaluator<Real>::make_run(const HeadTreatment<Real>& treatment,
                                                         ExampleObserver<Real>* observer) const {
  auto statistics = facts_;
  team_->run(static_cast<int>(batches_->size()), [&](int piece, int which) {
    throw_if_interrupted();
    auto& worker = (*workers_)[static_cast<std::size_t>(which)];
    const Packed& work = (*batches_)[static_cast<std::size_t>(piece)];
    ModelPass<Real> pass;
    pass.treatment = &treatment;
    pass.backward_follows = false;
    std::optional<ToExamples<Real>> to_examples;
    if (observer) pass.observer = &to_examples.emplace(*observer, work.first);
    model_->forward(*parameters_, packed(work.batch), pass, worker.workspace);
    cross_entropy<Real>(worker.workspace.logits.view(), work.batch.targets, nullptr, worker.rows);
    add_losses(work, worker.rows, statistics);
  });
  return statistics;
}

template <class Real>
Ablations Evaluator<Real>::make_ablations(const HeadTreatment<Real>& treatment,
                                          const std::vector<HeadId>& heads) const {
  Ablations found{facts_, {heads.size(), facts_}};
  team_->run(static_cast<int>(batches_->size()), [&](int piece, int which) {
    auto& worker = (*workers_)[static_cast<std::size_t>(which)];
    const Packed& work = (*batches_)[static_cast<std::size_t>(piece)];
    const Index rows = std::ssize(work.batch.targets);
    ModelPass<Real> pass;
    pass.treatment = &treatment;
    pass.backward_follows = false;
    std::size_t done = 0;
    model_->forward_without_each(
        *parameters_, packed(work.batch), pass, heads, batch_tokens_, worker.workspace,
        worker.ablation, [&](std::span<const HeadId> some, MatrixRef<Real> logits) {
          throw_if_interrupted();
          for (std::size_t i = 0; i < some.size(); ++i) {
            cross_entropy<Real>(logits.middleRows(static_cast<Index>(i) * rows, rows),
                                work.batch.targets, nullptr, worker.rows);
            add_losses(work, worker.rows, found.without[done++]);
          }
        });
    throw_if_interrupted();
    cross_entropy<Real>(worker.workspace.logits.view(), work.batch.targets, nullptr, worker.rows);
    add_losses(work, worker.rows, found.intact);
  });
  return found;
}

template <class Real>
void Evaluator<Real>::add_losses(const Packed& work, const std::vector<RowLoss<Real>>& rows,
                                 std::vector<ExampleStatistics>& statistics) const {
  for (std::int64_t b = 0; b < work.batch.input.count(); ++b) {
    auto& example = statistics[static_cast<std::size_t>(work.first + b)];
    for (auto i = work.batch.first_target(b); i < work.batch.first_target(b + 1); ++i) {
      example.nll += static_cast<double>(rows[static_cast<std::size_t>(i)].nll);
      example.correct += rows[static_cast<std::size_t>(i)].correct;
    }
  }
}

template <class Real>
GateGradients Evaluator<Real>::gate_gradients(const HeadTreatment<Real>& treatment) const {
  if (!log_) return {make_gate_gradients(treatment)};
  const auto numbers = log_->next(pass_name("gradients", treatment), [&] {
    const auto made = make_gate_gradients(treatment);
    return std::vector<double>(made.data(), made.data() + made.size());
  });
  GateGradients result{Matrix<double>(examples(), model_->heads().total())};
  if (static_cast<Index>(numbers.size()) != result.values.size())
    throw Error(ExitCode::internal, "a logged pass has another number of gate gradients");
  std::copy(numbers.begin(), numbers.end(), result.values.data());
  return result;
}

template <class Real>
Matrix<double> Evaluator<Real>::make_gate_gradients(const HeadTreatment<Real>& treatment) const {
  Matrix<double> gradients = Matrix<double>::Zero(examples(), model_->heads().total());
  team_->run(static_cast<int>(batches_->size()), [&](int piece, int which) {
    throw_if_interrupted();
    auto& worker = (*workers_)[static_cast<std::size_t>(which)];
    const auto& [batch, weights, first] = (*batches_)[static_cast<std::size_t>(piece)];
    ModelPass<Real> pass;
    pass.treatment = &treatment;
    pass.gate_gradients = true;
    model_->forward(*parameters_, packed(batch), pass, worker.workspace);
    auto logits = worker.workspace.logits.view();
    cross_entropy<Real>(logits, batch.targets, weights.data(), worker.rows);
    model_->backward(*parameters_, packed(batch), pass, logits, worker.workspace, nullptr);
    gradients.middleRows(first, batch.input.count()) =
        worker.workspace.gate_gradients.view().template cast<double>();
  });
  return gradients;
}

template class Evaluator<float>;
template class Evaluator<double>;

}  // namespace headcount
