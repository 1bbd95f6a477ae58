#include "run/calibration.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"
#include "evaluate/evaluator.hpp"
#include "math/random.hpp"
#include "measure/measure.hpp"
#include "run/progress.hpp"
#include "run/provenance.hpp"
#include "task/windows.hpp"
#include "train/trainer.hpp"

namespace headcount {
namespace {

std::vector<Token> made_up_text(std::int64_t tokens, Index vocabulary) {
  RandomStream random(0, Purpose::synthetic_data, 0, 0);
  std::vector<Token> text;
  for (std::int64_t i = 0; i < tokens; ++i)
    text.push_back(static_cast<Token>(random.below(static_cast<std::uint32_t>(vocabulary))));
  return text;
}

// Tokens without sense, cut into windows as text is.
class MadeUpText : public Task {
 public:
  explicit MadeUpText(const ProbeModel& probe)
      : vocabulary_(probe.vocabulary),
        windows_({made_up_text(probe.tokens + probe.block + 1, probe.vocabulary)}, probe.block) {
    TokenizedText text;
    text.tokens = made_up_text(2 * probe.tokens + 1, probe.vocabulary);
    text.characters.assign(text.tokens.size(), 1);
    held_out_ = {held_out_windows(text, probe.block, 0), {"made up"}};
  }

  std::int64_t vocabulary_size() const override { return vocabulary_; }
  std::int64_t longest_sequence() const override { return windows_.longest(); }
  std::string text_of(Token token) const override { return fmt::format("{}", token); }
  std::vector<std::string> metrics() const override { return {"nll"}; }
  Batch training_batch(std::uint64_t seed, std::int64_t step, std::int64_t tokens) const override {
    return windows_.draw(seed, step, tokens);
  }
  const Split& split(SplitName) const override { return held_out_; }
  std::int64_t characters(const Example& example) const override { return example.characters; }
  std::string data_hash() const override { return "made up"; }

  BatchShape held_out() const {
    BatchShape shape;
    for (const auto& example : held_out_.examples) {
      const auto length = static_cast<double>(example.input.size());
      shape += {1, length, length * length, length};
    }
    return shape;
  }

 private:
  Index vocabulary_;
  TrainingWindows windows_;
  Split held_out_;
};

ModelConfig config_of(const ProbeModel& probe) {
  ModelConfig config;
  config.vocabulary = probe.vocabulary;
  config.longest = probe.block;
  config.width = probe.width;
  config.feed_forward = probe.feed_forward * probe.width;
  config.set_heads(std::vector<int>(static_cast<std::size_t>(probe.layers), probe.heads),
                   {probe.width / probe.heads});
  config.activation = probe.activation;
  config.dropout = config.pattern_dropout = probe.dropout;
  return config;
}

TrainConfig training_of(const ProbeModel& probe) {
  TrainConfig config;
  config.steps = 1'000'000;
  config.batch_tokens = probe.tokens;
  config.shards = probe.shards;
  config.precision = probe.precision;
  config.schedule = {ScheduleKind::constant, 1e-4, 0, config.steps};
  config.clip = 1;
  config.record_every = config.steps;
  return config;
}

double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// One kind of work on one model, timed once a round.
class TimedWork {
 public:
  TimedWork(std::string name, Work work, std::function<void()> run)
      : name_(std::move(name)), work_(work), run_(std::move(run)) {}

  // Memory is taken and caches fill; tells how often to repeat what is too short for the clock.
  void warm_up() {
    constexpr double kLongEnough = 3e-3;
    time();
    repeats_ = static_cast<int>(std::clamp(std::ceil(kLongEnough / time()), 1.0, 100.0));
  }
  void measure() { seconds_.push_back(time()); }

  Probe probe() const {
    auto sorted = seconds_;
    const auto middle = sorted.begin() + std::ssize(sorted) / 2;
    std::nth_element(sorted.begin(), middle, sorted.end());
    return {name_, work_, *middle};
  }

 private:
  double time() const {
    const double before = thread_seconds();
    for (int i = 0; i < repeats_; ++i) run_();
    return std::max(thread_seconds() - before, 1e-9) / repeats_;
  }

  std::string name_;
  Work work_;
  std::function<void()> run_;
  int repeats_ = 1;
  std::vector<double> seconds_;
};

// A model that is trained, evaluated and measured as a trial would do it.
class Rig {
 public:
  Rig(const ProbeModel& probe, ThreadTeam& team)
      : probe_(probe),
        task_(probe),
        model_(config_of(probe)),
        parameters_(model_.initial_parameters("xavier-uniform", 1)),
        intact_(HeadTreatment<float>::intact(model_.heads())),
        trainer_(model_, task_, training_of(probe), intact_, team, parameters_),
        evaluator_(model_, parameters_, task_, SplitName::validation, 0, team),
        progress_("", "/dev/null", true) {}

  std::vector<TimedWork> works() {
    const auto shape = ModelShape::of(model_.config());
    const auto examples = task_.held_out();
    std::vector<TimedWork> works;
    const auto add = [&](const char* what, const Work& work, std::function<void()> run) {
      works.emplace_back(fmt::format("{} {}", what, label()), work, std::move(run));
    };
    const auto sequences = static_cast<double>(std::max(probe_.tokens / probe_.block, Index{1}));
    const double block = static_cast<double>(probe_.block);
    StepShape step;
    step.batch = sequences * BatchShape{1, block, block * block, block};
    step.shards = probe_.shards;
    step.record_every = 1e6;
    step.precision = probe_.precision;
    add("train", step_work(shape, step), [this] { this->step(); });
    if (probe_.precision != Precision::float32) return works;  // acts only in training
    add("evaluate", pass_work(shape, examples), [this] { evaluator_.run(intact_); });
    if (probe_.dropout > 0) return works;  // acts only in training
    add("gradients", gate_gradient_work(shape, examples),
        [this] { evaluator_.gate_gradients(intact_); });
    for (const char* measure : {"entropy", "confidence"})
      add(measure,
          pass_work(shape, examples, {1, true}) + observation_work(measure, shape, examples),
          [this, measure] {
            measure_heads<float>({measure}, MeasureInput<float>::of(evaluator_, intact_));
          });
    return works;
  }

 private:
  std::string label() const {
    auto text = fmt::format("D={} F={} H={} T={} L={} V={} {}", probe_.width,
                            probe_.feed_forward * probe_.width, probe_.heads, probe_.block,
                            probe_.layers, probe_.vocabulary, name_of(probe_.activation));
    if (probe_.dropout > 0) text += " dropout";
    if (probe_.precision == Precision::bfloat16) text += " bfloat16";
    return text;
  }

  // With the line that a trial writes of every step.
  void step() { progress_.record(trainer_.step(++steps_)); }

  ProbeModel probe_;
  MadeUpText task_;
  Model<float> model_;
  Parameters<float> parameters_;
  HeadTreatment<float> intact_;
  Trainer<float> trainer_;
  Evaluator<float> evaluator_;
  Progress progress_;
  std::int64_t steps_ = 0;
};

// Of what the rates are true.
Json holds_for() {
  const auto build = build_provenance();
  return {{"version", build.version},
          {"commit", build.commit},
          {"compiler", build.compiler},
          {"flags", build.flags},
          {"instruction_set", build.instruction_set},
          {"products", build.products},
          {"cpu", cpu_name()}};
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& problem) {
  throw Error(ExitCode::bad_data, fmt::format("{}: {}", path.string(), problem));
}

}  // namespace

double Calibration::time(const Work& work) const {
  double total = 0;
  for (const auto feature : all_features()) total += rate(feature) * work[feature];
  return total;
}

// Widths, head counts and lengths far apart, in mixed order, so that no feature goes along with
// another everywhere; small models for what a step costs besides its arithmetic.
const std::vector<ProbeModel>& calibration_grid() {
  using enum Activation;
  static const std::vector<ProbeModel> grid{
      // D, H, T, L, tokens, V, activation, dropout, F / D, shards, precision
      {8, 1, 8, 1, 64, 16, gelu, 0, 4, 1},
      {16, 4, 16, 2, 128, 32, gelu, 0, 4, 4},
      {32, 1, 16, 2, 1024, 96, gelu, 0, 4, 2},
      {32, 4, 64, 1, 1024, 96, relu, 0, 1, 1},
      {32, 16, 128, 1, 1024, 96, gelu, 0, 8, 2},
      {64, 1, 128, 1, 1024, 96, relu, 0, 4, 4},
      {64, 4, 16, 2, 1024, 96, gelu, 0, 4, 2},
      {64, 8, 64, 2, 1024, 96, gelu, 0, 2, 2},
      {64, 16, 16, 1, 1024, 96, relu, 0, 4, 1},
      {128, 1, 64, 1, 1024, 96, gelu, 0, 4, 2},
      {128, 4, 128, 1, 1024, 96, relu, 0, 4, 1},
      {128, 8, 16, 1, 2048, 96, gelu, 0, 4, 4},
      {128, 16, 64, 2, 1024, 96, gelu, 0, 4, 2},
      {256, 1, 16, 1, 512, 96, relu, 0, 4, 1},
      {256, 4, 64, 1, 512, 96, gelu, 0, 4, 4},
      {256, 16, 128, 1, 1024, 96, gelu, 0, 1, 2},
      {64, 4, 64, 1, 1024, 2000, gelu, 0, 4, 2},
      {64, 4, 32, 1, 1024, 96, gelu_tanh, 0, 4, 2},
      {64, 4, 32, 1, 1024, 96, relu, 0.1, 4, 2},
      {64, 4, 32, 2, 1024, 96, relu, 0, 4, 2, Precision::bfloat16},
      {256, 4, 64, 1, 1024, 96, relu, 0, 4, 2, Precision::bfloat16}};
  return grid;
}

std::vector<Probe> run_probes(double seconds, const std::vector<ProbeModel>& grid) {
  const auto began = std::chrono::steady_clock::now();
  ThreadTeam team(1);
  std::vector<std::unique_ptr<Rig>> rigs;
  std::vector<TimedWork> works;
  for (const auto& probe : grid) {
    rigs.push_back(std::make_unique<Rig>(probe, team));
    for (auto& work : rigs.back()->works()) works.push_back(std::move(work));
  }
  for (auto& work : works) work.warm_up();
  const auto passed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  constexpr int kLeastRounds = 3;  // so that a median passes over a moment when others worked
  for (int round = 0; round < kLeastRounds || passed() < seconds; ++round)
    for (auto& work : works) work.measure();
  std::vector<Probe> probes(works.size());
  std::transform(works.begin(), works.end(), probes.begin(),
                 [](const TimedWork& work) { return work.probe(); });
  return probes;
}

// Coordinate descent on the normal equations of |A x - 1|², rows of A being work / seconds and
// columns scaled to length 1; every step is the exact minimum along one rate (Franc et al. 2005).
Calibration fit(const std::vector<Probe>& probes) {
  Matrix<double> rows(static_cast<Index>(probes.size()), static_cast<Index>(kFeatures));
  for (std::size_t i = 0; i < probes.size(); ++i)
    for (const auto feature : all_features())
      rows(static_cast<Index>(i), static_cast<Index>(feature)) =
          probes[i].work[feature] / probes[i].seconds;
  RowVector<double> length = rows.colwise().norm();
  length = (length.array() > 0).select(length, 1.0);
  rows.array().rowwise() /= length.array();
  const Matrix<double> gram = rows.transpose() * rows;
  const RowVector<double> sums = rows.colwise().sum();

  RowVector<double> rates = RowVector<double>::Zero(sums.size());
  constexpr int kMostSweeps = 200'000;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double change = 0;
    for (Index f = 0; f < rates.size(); ++f) {
      if (gram(f, f) == 0) continue;  // no probe has any of it
      const double wanted =
          std::max(0.0, rates(f) + (sums(f) - rates.dot(gram.row(f))) / gram(f, f));
      change = std::max(change, std::abs(wanted - rates(f)));
      rates(f) = wanted;
    }
    if (change < 1e-10) break;
  }
  Calibration calibration;
  for (const auto feature : all_features())
    calibration.seconds.at(static_cast<std::size_t>(feature)) =
        rates(static_cast<Index>(feature)) / length(static_cast<Index>(feature));
  return calibration;
}

// A file for each build and processor, so that they do not take turns.
std::filesystem::path calibration_path() {
  return cache_directory() /
         fmt::format("calibration-{}.json", sha256_hex(to_text(holds_for())).substr(0, 12));
}

void write_calibration(const Calibration& calibration, const std::filesystem::path& path) {
  Json rates;
  for (const auto feature : all_features())
    rates[std::string(name_of(feature))] = calibration.rate(feature);
  const Json all{{"holds_for", holds_for()}, {"seconds_per_unit", rates}};
  std::error_code ignored;  // publish_file says what is wrong
  std::filesystem::create_directories(path.parent_path(), ignored);
  publish_file(path, [&](const std::filesystem::path& temporary) {
    std::ofstream file(temporary);
    file << to_text(all, 2) << '\n';
    if (!file.flush())
      throw Error(ExitCode::io, fmt::format("cannot write {}", temporary.string()));
  });
}

Calibration read_calibration(const std::filesystem::path& path) {
  constexpr std::size_t kMostBytes = 1 << 16;
  const auto all = parse_json(read_file(path, kMostBytes));
  if (!all.is_object() || !all.contains("holds_for") || !all.contains("seconds_per_unit"))
    refuse(path, "this is no calibration");
  if (all["holds_for"] != holds_for())
    refuse(path, "it was measured with another build, or on another processor");
  const auto& rates = all["seconds_per_unit"];
  Calibration calibration;
  for (const auto feature : all_features()) {
    const std::string name(name_of(feature));
    if (!rates.is_object() || !rates.contains(name) || !rates[name].is_number())
      refuse(path, fmt::format("it has no rate of {}", name));
    const double rate = rates[name].get<double>();
    constexpr double kMost = 10;  // seconds for one of anything
    if (!(rate >= 0 && rate < kMost)) refuse(path, fmt::format("a rate of {} for {}", rate, name));
    calibration.seconds.at(static_cast<std::size_t>(feature)) = rate;
  }
  return calibration;
}

}  // namespace headcount
