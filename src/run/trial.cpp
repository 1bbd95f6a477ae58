#include "run/trial.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "measure/mean_context.hpp"
#include "run/config.hpp"
#include "run/publish.hpp"

namespace headcount {
namespace {

// Keeps the patterns of the first `sequences` examples of an evaluator.
class PatternKeeper : public ExampleObserver<float> {
 public:
  PatternKeeper(Index sequences, const HeadCounts& counts)
      : counts_(counts),
        kept_(static_cast<std::size_t>(sequences) * static_cast<std::size_t>(counts.total())) {}

  void observe(Index example, const HeadObservation<float>& seen) override {
    const Index head = counts_.first_index(seen.id.site, seen.id.layer) + seen.id.head;
    auto& pattern = kept_[static_cast<std::size_t>(example * counts_.total() + head)];
    pattern = {seen.id, example, seen.pattern};
  }

  std::vector<TrialResult::Pattern> take() {
    std::erase_if(kept_, [](const auto& pattern) { return pattern.weights.size() == 0; });
    return std::move(kept_);
  }

 private:
  HeadCounts counts_;
  std::vector<TrialResult::Pattern> kept_;
};

// The life of one trial, stage by stage.
class TrialRun {
 public:
  TrialRun(const Settings& settings, const Task& task, ThreadTeam& team, Progress& progress,
           TrialResult& result)
      : settings_(settings),
        task_(task),
        team_(team),
        progress_(progress),
        result_(result),
        model_(model_config(settings, task.vocabulary_size(), task.longest_sequence())),
        parameters_(
            model_.initial_parameters(settings.text("model.init"),
                                      static_cast<std::uint64_t>(settings.integer("seed.init")))) {
    result_.heads = model_.heads();
    result_.head_state = HeadMap<std::uint8_t>(model_.heads(), 1);
    result_.metrics = task.metrics();
    result_.model = &model_;
    result_.parameters = &parameters_;
    result_.threads = team.size();
  }

  void run() {
    stage("train", [this] { train(); });
    stage("evaluate", [this] { evaluate(); });
    stage("measure", [this] { measure(); });
    stage("prune", [this] { prune(); });
  }

 private:
  template <class Work>
  void stage(const char* name, const Work& work) {
    const auto wall = std::chrono::steady_clock::now();
    const std::clock_t cpu = std::clock();
    work();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - wall;
    result_.stages.push_back(
        {name, passed.count(), static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC});
    progress_.record(nlohmann::json{{"stage", name}, {"seconds", passed.count()}}.dump());
  }

  Evaluator<float> evaluator(SplitName split, const char* limit) const {
    return {model_, parameters_, task_, split, settings_.integer(limit), team_};
  }

  void train() {
    const auto config = train_config(settings_);
    const auto mask = mask_config(settings_, true);
    auto treatment = HeadTreatment<float>::intact(model_.heads());
    treatment.mask(mask.heads, mask.kind);
    Trainer<float> trainer(model_, task_, config, treatment, team_, parameters_);
    const auto began = std::chrono::steady_clock::now();
    const auto every = settings_.integer("train.validate-every");
    const bool validates = !task_.split(SplitName::validation).examples.empty();
    double tokens = 0;
    for (std::int64_t step = 1; step <= config.steps; ++step) {
      result_.steps.push_back(trainer.step(step));
      tokens += static_cast<double>(result_.steps.back().tokens);
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
      report(result_.steps.back(), config.steps, passed.count());
      result_.tokens_per_second = tokens / passed.count();
      if (validates && (step == config.steps || (every > 0 && step % every == 0)))
        validate(step, treatment);
    }
    choose_parameters(config.steps);
  }

  void report(const StepReport& step, std::int64_t steps, double seconds) {
    progress_.record(nlohmann::json{{"step", step.step},
                                    {"loss", step.loss},
                                    {"learning_rate", step.learning_rate},
                                    {"gradient_norm", step.gradient_norm}}
                         .dump());
    const double done = static_cast<double>(step.step) / static_cast<double>(steps);
    progress_.show(fmt::format("step {}/{}  loss {:.4f}  {:.3g} ms/step  {} left", step.step, steps,
                               step.loss, seconds / static_cast<double>(step.step) * 1e3,
                               clock_text(seconds / done - seconds)));
  }

  void validate(std::int64_t step, const HeadTreatment<float>& treatment) {
    const auto validation = evaluator(SplitName::validation, "evaluate.examples");
    Validation found{step, score("nll", total(validation.run(treatment))), {}};
    if (const auto names = settings_.texts("measure.during-training"); !names.empty()) {
      const auto measured = evaluator(SplitName::validation, "measure.examples");
      found.heads = measure_heads<float>(names, MeasureInput<float>::of(measured, treatment));
    }
    progress_.record(nlohmann::json{{"step", step}, {"validation_nll", found.nll}}.dump());
    progress_.show(fmt::format("step {}  validation nll {:.4f}", step, found.nll), true);
    if (settings_.is("evaluate.parameters", "best") && found.nll < best_nll_) {
      best_nll_ = found.nll;
      best_step_ = step;
      best_ = parameters_.clone();
    }
    result_.validations.push_back(std::move(found));
  }

  void choose_parameters(std::int64_t last) {
    result_.parameters_are = settings_.text("evaluate.parameters");
    result_.parameters_step = last;
    if (best_step_ == 0) return;
    parameters_ = std::move(best_);
    result_.parameters_step = best_step_;
  }

  void evaluate() {
    const auto mask = mask_config(settings_, false);
    const auto intact = HeadTreatment<float>::intact(model_.heads());
    treatment_ = treatment_for(model_, parameters_, task_, mask.heads, mask.kind,
                               settings_.integer("measure.examples"), team_);
    for (const auto split : {SplitName::validation, SplitName::test}) {
      if (task_.split(split).examples.empty()) continue;
      const auto scored = evaluator(split, "evaluate.examples");
      TrialResult::Evaluation evaluation{
          split, scored.run(treatment_), {}, task_.split(split).clusters};
      if (!mask.heads.empty()) evaluation.intact = scored.run(intact);
      progress_.show(
          fmt::format("{} nll {:.4f} on {} examples", name_of(split),
                      score("nll", total(evaluation.examples)), evaluation.examples.size()),
          true);
      result_.evaluations.push_back(std::move(evaluation));
    }
  }

  void measure() {
    const auto split = parse_split(settings_.text("measure.split"));
    if (const auto names = settings_.texts("measure.measures"); !names.empty()) {
      progress_.show(
          fmt::format("measuring {} of {} heads", fmt::join(names, ", "), model_.heads().total()),
          true);
      const auto measured = evaluator(split, "measure.examples");
      result_.measures = measure_heads<float>(names, MeasureInput<float>::of(measured, treatment_));
    }
    if (const auto wanted = settings_.integer("measure.patterns"); wanted > 0)
      keep_patterns(split, wanted);
  }

  void keep_patterns(SplitName split, std::int64_t wanted) {
    const auto& examples = task_.split(split).examples;
    const auto sequences = std::min(wanted, static_cast<std::int64_t>(examples.size()));
    const Evaluator<float> some(model_, parameters_, task_, split, sequences, team_);
    PatternKeeper keeper(sequences, model_.heads());
    some.run(treatment_, &keeper);
    result_.patterns = keeper.take();
    result_.pattern_split = split;
    for (const auto place : some.example_indices()) {
      auto& tokens = result_.pattern_tokens.emplace_back();
      for (const auto token : examples[static_cast<std::size_t>(place)].input)
        tokens.push_back(task_.text_of(token));
    }
  }

  void prune() {
    const auto methods = settings_.texts("prune.methods");
    if (methods.empty()) return;
    const auto scoring = evaluator(SplitName::validation, "prune.examples");
    const auto reporting = evaluator(SplitName::test, "prune.examples");
    const auto heads = MeasureInput<float>::of(scoring, treatment_).heads;
    const OrderInput<float> input{
        &scoring, &treatment_, static_cast<std::uint64_t>(settings_.integer("seed.init")),
        static_cast<int>(settings_.integer("prune.orders")),
        removals(static_cast<int>(heads.size()), settings_.real("prune.step"))};
    std::vector<double> build_at;
    for (const auto percent : settings_.integers("prune.build-at"))
      build_at.push_back(static_cast<double>(percent) / 100);
    for (const auto& name : methods) {
      progress_.show(fmt::format("pruning {} heads by {}", heads.size(), name), true);
      TrialResult::Pruning pruning{name, SplitName::validation, SplitName::test, {}};
      for (const auto& order : pruning_methods().at(name).orders(input))
        pruning.curves.push_back(
            pruning_curve<float>(order, input.removals, build_at, reporting, treatment_));
      result_.prunings.push_back(std::move(pruning));
    }
  }

  const Settings& settings_;
  const Task& task_;
  ThreadTeam& team_;
  Progress& progress_;
  TrialResult& result_;
  Model<float> model_;
  Parameters<float> parameters_;
  Parameters<float> best_;
  double best_nll_ = std::numeric_limits<double>::infinity();
  std::int64_t best_step_ = 0;
  HeadTreatment<float> treatment_;  // while evaluating
};

}  // namespace

HeadTreatment<float> treatment_for(const Model<float>& model, const Parameters<float>& parameters,
                                   const Task& task, const std::vector<HeadId>& heads,
                                   MaskKind kind, std::int64_t examples, ThreadTeam& team) {
  auto treatment = HeadTreatment<float>::intact(model.heads());
  HeadMap<RowVector<float>> means;
  if (kind == MaskKind::mean && !heads.empty()) {
    const Evaluator<float> scoring(model, parameters, task, SplitName::validation, examples, team);
    means = mean_contexts(scoring, treatment);
  }
  treatment.mask(heads, kind, kind == MaskKind::mean ? &means : nullptr);
  return treatment;
}

void run_trial(const TrialJob& job, ThreadTeam& team, Progress& progress) {
  const Settings& settings = job.spec->settings;
  TrialResult result;
  result.experiment = job.experiment->name;
  result.question = job.experiment->question;
  result.source = job.experiment->source;
  result.trial_id = job.id;
  result.data_hash = job.task->data_hash();
  result.model_id = model_id(settings, result.data_hash);
  result.settings = settings;
  result.started = utc_now();
  TrialRun run(settings, *job.task, team, progress, result);
  run.run();
  result.ended = utc_now();
  publish_trial(job.path, result);
}

}  // namespace headcount
