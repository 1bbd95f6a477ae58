#include "run/trial.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "base/json.hpp"
#include "measure/mean_context.hpp"
#include "run/checkpoint.hpp"
#include "run/config.hpp"
#include "run/publish.hpp"
#include "run/stored_trial.hpp"

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

// Adds up the time of stages over all processes that work on a trial.
class StageClock {
 public:
  void begin(std::vector<StageTime>& stages, const std::string& name) {
    auto found = std::find_if(stages.begin(), stages.end(),
                              [&](const StageTime& stage) { return stage.name == name; });
    if (found == stages.end()) found = stages.insert(found, {name, 0, 0});
    stage_ = static_cast<std::size_t>(found - stages.begin());
    wall_ = std::chrono::steady_clock::now();
    cpu_ = std::clock();
  }

  // What has passed since the last mark goes to the stage.
  void mark(std::vector<StageTime>& stages) {
    const auto wall = std::chrono::steady_clock::now();
    const std::clock_t cpu = std::clock();
    stages[stage_].wall_seconds += std::chrono::duration<double>(wall - wall_).count();
    stages[stage_].cpu_seconds += static_cast<double>(cpu - cpu_) / CLOCKS_PER_SEC;
    wall_ = wall;
    cpu_ = cpu;
  }

 private:
  std::size_t stage_ = 0;
  std::chrono::steady_clock::time_point wall_;
  std::clock_t cpu_ = 0;
};

// The life of one trial, stage by stage. All that must outlast an interruption is in `state_`.
class TrialRun {
 public:
  TrialRun(const TrialJob& job, ThreadTeam& team, Progress& progress)
      : job_(job),
        settings_(job.spec->settings),
        task_(*job.task),
        team_(team),
        progress_(progress),
        model_(model_config(settings_, task_)) {}

  void run() {
    begin();
    try {
      if (!state_.trained) stage("train", [this] { train(); });
      stage("evaluate", [this] { evaluate(); });
      stage("measure", [this] { measure(); });
      stage("prune", [this] { prune(); });
      publish();
    } catch (const Interrupted&) {
      save_before_leaving();
      throw;
    }
    remove_checkpoints(job_.path);
  }

 private:
  void begin() {
    if (job_.restart) remove_checkpoints(job_.path);
    std::vector<std::string> problems;
    auto resumed = load_checkpoint(job_.path, job_.id, model_, problems);
    for (const auto& problem : problems) progress_.show("passes over " + problem, true);
    if (resumed) {
      state_ = std::move(*resumed);
      progress_.continue_curve(last_step());
      progress_.show(fmt::format("goes on after step {}, {} passes made", last_step(),
                                 state_.passes.passes().size()),
                     true);
    } else {
      state_.started = utc_now();
      if (!take_over()) initialize();
    }
    state_.passes.when_made([this] { after_piece(); });
    last_save_ = std::chrono::steady_clock::now();
  }

  // A scheme that profiles the model sees training data, no more than Liu et al. 2020 needed.
  void initialize() {
    constexpr std::int64_t kMostTokens = 8192;
    const auto config = train_config(settings_);
    const auto sample =
        task_.training_batch(config.data_seed, 1, std::min(config.batch_tokens, kMostTokens));
    state_.parameters = model_.initial_parameters(
        settings_.text("model.init"), static_cast<std::uint64_t>(settings_.integer("seed.init")),
        {sample.input.tokens, sample.input.offsets});
  }

  bool take_over() {
    if (!job_.trained) return false;
    try {
      auto trained =
          read_training(*job_.trained, settings_, task_.data_hash(), model_, job_.only_take_over);
      state_.training = std::move(trained.record);
      state_.parameters = std::move(trained.parameters);
      state_.trained_by = std::move(trained.by);
      state_.trained = true;
      progress_.show("was trained in " + job_.trained->string(), true);
      return true;
    } catch (const Error& error) {
      if (job_.only_take_over) throw;
      progress_.show(fmt::format("trains itself: {}", error.what()), true);
      return false;
    }
  }

  template <class Work>
  void stage(const char* name, const Work& work) {
    clock_.begin(state_.stages, name);
    work();
    clock_.mark(state_.stages);
    const auto& stages = state_.stages;
    const auto done = std::find_if(stages.begin(), stages.end(),
                                   [&](const StageTime& stage) { return stage.name == name; });
    progress_.record(Json{{"stage", name}, {"seconds", done->wall_seconds}});
  }

  // After each step, validation and pass: the places where a trial can go on from a checkpoint.
  void after_piece() {
    ++pieces_;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - last_save_;
    const auto& when = job_.checkpoints;
    if (checkpoint_requested() || (when.every_steps > 0 && pieces_ >= when.every_steps) ||
        (when.every_seconds > 0 && passed.count() >= when.every_seconds))
      save();
  }

  // A checkpoint that cannot be written is told; the work goes on.
  void save() {
    clock_.mark(state_.stages);
    pieces_ = 0;
    last_save_ = std::chrono::steady_clock::now();
    try {
      save_checkpoint(job_.path, job_.id, state_, trainer_ ? &trainer_->moments() : nullptr);
    } catch (const Error& error) {
      return progress_.show(fmt::format("no checkpoint: {}", error.what()), true);
    }
    if (job_.checkpoint_written) job_.checkpoint_written();
  }

  void save_before_leaving() {
    save();
    progress_.show(fmt::format("stopped after step {}, {} passes made",
                               state_.training.steps.size(), state_.passes.passes().size()),
                   true);
  }

  // With a log of passes once the parameters are final.
  Evaluator<float> evaluator(SplitName split, const char* limit) {
    Evaluator<float> made(model_, state_.parameters, task_, split, settings_.integer(limit), team_);
    if (state_.trained) made.keep_in(state_.passes);
    return made;
  }

  void train() {
    const auto config = train_config(settings_);
    const auto mask = mask_config(settings_, true);
    auto treatment = HeadTreatment<float>::intact(model_.heads());
    treatment.mask(mask.heads, mask.kind);
    trainer_.emplace(model_, task_, config, treatment, team_, state_.parameters);
    if (state_.moments) trainer_->moments() = std::move(*state_.moments);
    state_.moments.reset();
    train_began_ = std::chrono::steady_clock::now();
    first_step_ = last_step();
    for (;;) {
      if (validation_due(config.steps))
        validate(treatment);
      else if (last_step() < config.steps)
        step(config.steps);
      else
        break;
      after_piece();
    }
    clock_.mark(state_.stages);
    finish_training(config.steps);
  }

  std::int64_t last_step() const { return static_cast<std::int64_t>(state_.training.steps.size()); }

  bool validation_due(std::int64_t steps) const {
    const auto step = last_step();
    if (step == 0 || task_.split(SplitName::validation).examples.empty()) return false;
    const auto every = settings_.integer("train.validate-every");
    const auto& made = state_.training.validations;
    return (step == steps || (every > 0 && step % every == 0)) &&
           (made.empty() || made.back().step < step);
  }

  void step(std::int64_t steps) {
    state_.training.steps.push_back(trainer_->step(last_step() + 1));
    const auto& report = state_.training.steps.back();
    progress_.record(report);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - train_began_;
    const double each = passed.count() / static_cast<double>(report.step - first_step_);
    progress_.show(fmt::format("step {}/{}  loss {:.4f}  {:.3g} ms/step  {} left", report.step,
                               steps, report.loss, each * 1e3,
                               clock_text(each * static_cast<double>(steps - report.step))));
  }

  void validate(const HeadTreatment<float>& treatment) {
    const auto step = last_step();
    const auto validation = evaluator(SplitName::validation, "evaluate.examples");
    Validation found{step, score("nll", total(validation.run(treatment))), {}};
    if (const auto names = settings_.texts("measure.during-training"); !names.empty()) {
      const auto measured = evaluator(SplitName::validation, "measure.examples");
      found.heads = measure_heads<float>(names, MeasureInput<float>::of(measured, treatment));
    }
    progress_.record(Json{{"step", step}, {"validation_nll", found.nll}});
    progress_.show(fmt::format("step {}  validation nll {:.4f}", step, found.nll), true);
    if (settings_.is("evaluate.parameters", "best") && found.nll < state_.best_nll) {
      state_.best_nll = found.nll;
      state_.best_step = step;
      state_.best = state_.parameters.clone();
    }
    state_.training.validations.push_back(std::move(found));
  }

  void finish_training(std::int64_t last) {
    double tokens = 0, seconds = 0;
    for (const auto& step : state_.training.steps) tokens += static_cast<double>(step.tokens);
    for (const auto& stage : state_.stages) seconds += stage.wall_seconds;
    state_.training.tokens_per_second = seconds > 0 ? tokens / seconds : 0;
    state_.training.parameters_step = last;
    if (state_.best_step > 0) {
      state_.parameters = std::move(state_.best);
      state_.training.parameters_step = std::exchange(state_.best_step, 0);
    }
    trainer_.reset();
    state_.trained = true;
  }

  void evaluate() {
    const auto mask = mask_config(settings_, false);
    const auto intact = HeadTreatment<float>::intact(model_.heads());
    treatment_ = treatment_for(model_, state_.parameters, task_, mask.heads, mask.kind,
                               settings_.integer("measure.examples"), team_);
    for (const auto split : {SplitName::validation, SplitName::test}) {
      if (task_.split(split).examples.empty()) continue;
      const auto scored = evaluator(split, "evaluate.examples");
      TrialResult::Evaluation evaluation{split, scored.run(treatment_),      {},
                                         {},    task_.split(split).clusters, {}};
      if (task_.split(split).targets_per == TargetsPer::sequence)
        for (const auto place : scored.example_indices())
          evaluation.example_classes.push_back(
              task_.split(split).examples[static_cast<std::size_t>(place)].targets.front());
      if (!mask.heads.empty()) evaluation.intact = scored.run(intact);
      if (settings_.integer("evaluate.generation") > 0)
        evaluation.generated = evaluator(split, "evaluate.generation").run_as_generated(treatment_);
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
    const Evaluator<float> some(model_, state_.parameters, task_, split, sequences, team_);
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
    time_smaller_models();
  }

  // Not a pass of the log: a trial that goes on measures again.
  void time_smaller_models() {
    const auto repetitions = static_cast<int>(settings_.integer("prune.latency"));
    if (repetitions == 0) return;
    struct Built {
      const TrialResult::Pruning* pruning;
      std::size_t point;
    };
    std::vector<Built> built;
    for (const auto& pruning : result_.prunings) {
      const auto& removed = pruning.curves.front().removed;
      for (std::size_t point = 0; point < removed.size(); ++point)
        if (!removed[point].empty()) built.push_back({&pruning, point});
    }
    if (built.empty()) return;
    progress_.show("timing smaller models", true);
    constexpr double kSeconds = 2, kSizes = 3;  // of all measurements together, about
    const LatencyOptions options{repetitions,
                                 kSeconds / kSizes / static_cast<double>(built.size())};
    for (const auto& [pruning, point] : built) {
      const auto& curve = pruning->curves.front();
      const auto gone = curve.removals[point];
      result_.latencies.push_back(
          {pruning->method, static_cast<int>(curve.order.size()) - gone,
           measure_latency<float>(model_, state_.parameters,
                                  {curve.order.begin(), curve.order.begin() + gone}, treatment_,
                                  task_.split(SplitName::test).examples, options)});
    }
  }

  // What cannot be written now need not be computed again.
  void publish() {
    throw_if_interrupted();
    result_.experiment = job_.experiment->name;
    result_.question = job_.experiment->question;
    result_.source = job_.experiment->source;
    result_.trial_id = job_.id;
    result_.data_hash = task_.data_hash();
    result_.model_id = model_id(settings_, result_.data_hash);
    result_.settings = settings_;
    result_.training = std::move(state_.training);
    result_.trained_by = state_.trained_by;
    result_.parameters_are = settings_.text("evaluate.parameters");
    result_.metrics = task_.metrics();
    result_.classes = task_.classes();
    result_.heads = model_.heads();
    result_.head_state = HeadMap<std::uint8_t>(model_.heads(), 1);
    result_.model = &model_;
    result_.parameters = &state_.parameters;
    result_.stages = state_.stages;
    result_.threads = team_.size();
    result_.started = state_.started;
    result_.ended = utc_now();
    try {
      publish_trial(job_.path, result_);
    } catch (const Error&) {
      state_.training = std::move(result_.training);
      save();
      throw;
    }
  }

  const TrialJob& job_;
  const Settings& settings_;
  const Task& task_;
  ThreadTeam& team_;
  Progress& progress_;
  Model<float> model_;
  UnfinishedTrial state_;
  std::optional<Trainer<float>> trainer_;  // while training
  HeadTreatment<float> treatment_;         // while evaluating
  TrialResult result_;

  StageClock clock_;
  std::chrono::steady_clock::time_point train_began_, last_save_;
  std::int64_t first_step_ = 0;  // done by earlier processes
  std::int64_t pieces_ = 0;      // since the last checkpoint
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
  TrialRun(job, team, progress).run();
}

}  // namespace headcount
