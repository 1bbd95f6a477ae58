#include "train/trainer.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include "catch.hpp"
#include "support/toy.hpp"

namespace headcount {
namespace {

TrainConfig toy_training(int shards = 3) {
  TrainConfig config;
  config.steps = 6;
  config.batch_tokens = 90;
  config.shards = shards;
  config.schedule = {ScheduleKind::constant, 0.01, 0, 6};
  config.data_seed = 3;
  config.dropout_seed = 4;
  config.record_every = 2;
  return config;
}

ModelConfig with_dropout() {
  auto config = toy_config();
  config.dropout = 0.2;
  config.pattern_dropout = 0.1;
  return config;
}

// A toy training with all that must outlive its trainer.
template <class Real, class TaskOf = ToyTask>
struct Training {
  explicit Training(const TrainConfig& config, int threads = 1,
                    const ModelConfig& model_config = with_dropout())
      : model(model_config),
        treatment(HeadTreatment<Real>::intact(model.heads())),
        team(threads),
        parameters(toy_parameters(model, 1)),
        trainer(model, task, config, treatment, team, parameters) {}

  TaskOf task;
  Model<Real> model;
  HeadTreatment<Real> treatment;
  ThreadTeam team;
  Parameters<Real> parameters;
  Trainer<Real> trainer;
};

struct Trained {
  Parameters<float> parameters;
  std::vector<StepReport> reports;
};

Trained train(int shards, int threads, Precision precision = Precision::float32) {
  auto config = toy_training(shards);
  config.precision = precision;
  Training<float> training(config, threads);
  std::vector<StepReport> reports;
  for (std::int64_t step = 1; step <= 6; ++step) reports.push_back(training.trainer.step(step));
  // The layout belongs to the model, which ends here.
  static const Model<float> model(with_dropout());
  Parameters<float> kept(model.layout());
  std::copy_n(training.parameters.data(), kept.size(), kept.data());
  return {std::move(kept), std::move(reports)};
}

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

TEMPLATE_TEST_CASE("the gradient of a sharded step is that of one pass over the whole batch", "",
                   ToyTask, ToyClasses) {
  for (const int shards : {1, 3, 50}) {
    CAPTURE(shards);
    const auto config = toy_training(shards);
    auto model = with_dropout();
    if (std::is_same_v<TestType, ToyClasses>) model.classes = 2;
    Training<double, TestType> training(config, 2, model);
    const auto before = training.parameters.clone();
    const auto report = training.trainer.step(1);

    const auto batch = training.task.training_batch(config.data_seed, 1, config.batch_tokens);
    REQUIRE(batch.input.count() < 50);  // some of 50 shards are empty
    ModelPass<double> pass;
    pass.treatment = &training.treatment;
    pass.training = true;
    pass.dropout_seed = config.dropout_seed;
    pass.step = 1;
    const PackedTokens input{batch.input.tokens, batch.input.offsets};
    ModelWorkspace<double> workspace;
    training.model.forward(before, input, pass, workspace);
    auto logits = workspace.logits.view();
    const auto targets = static_cast<double>(batch.target_count());
    const std::vector<double> weights(batch.targets.size(), 1 / targets);
    std::vector<RowLoss<double>> rows;
    cross_entropy<double>(logits, batch.targets, weights.data(), rows);
    Parameters<double> gradient(training.model.layout());
    training.model.backward(before, input, pass, logits, workspace, &gradient);

    double loss = 0, square = 0;
    for (const auto& row : rows) loss += row.nll / targets;
    CHECK(report.loss == Approx(loss).epsilon(1e-12));
    CHECK(report.tokens == batch.input.total());
    for (const auto& entry : training.model.layout().entries()) {
      CAPTURE(entry.name);
      const auto found = training.trainer.gradient().view(entry.block);
      const auto expected = gradient.view(entry.block);
      CHECK((found - expected).cwiseAbs().maxCoeff() <=
            1e-12 * std::max(expected.cwiseAbs().maxCoeff(), 1e-3));
      square += expected.squaredNorm();
    }
    CHECK(report.gradient_norm == Approx(std::sqrt(square)).epsilon(1e-12));
  }
}

TEST_CASE("training in bfloat16 is another training, close to that in float32") {
  const auto wide = train(2, 1), narrow = train(2, 1, Precision::bfloat16);
  CHECK_FALSE(same_bits(wide.parameters, narrow.parameters));
  for (std::size_t i = 0; i < wide.reports.size(); ++i) {
    CAPTURE(i);
    CHECK(narrow.reports[i].loss != wide.reports[i].loss);
    CHECK(narrow.reports[i].loss == Approx(wide.reports[i].loss).epsilon(0.01));
  }
}

TEST_CASE("any number of threads trains the same bits, in either precision") {
  const auto precision = GENERATE(Precision::float32, Precision::bfloat16);
  const auto expected = train(3, 1, precision);
  for (const int threads : {2, 3, 4}) {
    CAPTURE(threads, name_of(precision));
    const auto found = train(3, threads, precision);
    CHECK(same_bits(found.parameters, expected.parameters));
    for (std::size_t i = 0; i < expected.reports.size(); ++i) {
      CHECK(same_bits(found.reports[i].loss, expected.reports[i].loss));
      CHECK(same_bits(found.reports[i].gradient_norm, expected.reports[i].gradient_norm));
      CHECK(found.reports[i].layer_gradient_norm == expected.reports[i].layer_gradient_norm);
      for (const auto& series : layer_series()) {
        CAPTURE(series.name);
        CHECK(found.reports[i].*series.values == expected.reports[i].*series.values);
      }
    }
  }
}

TEST_CASE("parameters and moments are all that the next step depends on") {
  const auto whole = train(3, 1);
  Training<float> first(toy_training()), second(toy_training(), 2);
  for (std::int64_t step = 1; step <= 4; ++step) first.trainer.step(step);
  std::copy_n(first.parameters.data(), first.parameters.size(), second.parameters.data());
  second.trainer.moments().first = first.trainer.moments().first.clone();
  second.trainer.moments().second = first.trainer.moments().second.clone();
  for (std::int64_t step = 5; step <= 6; ++step)
    CHECK(second.trainer.step(step).loss == whole.reports[static_cast<std::size_t>(step) - 1].loss);
  CHECK(same_bits(second.parameters, whole.parameters));
}

TEST_CASE("another number of shards trains the same but for rounding") {
  const auto one = train(1, 1), four = train(4, 1);
  for (std::size_t i = 0; i < one.reports.size(); ++i) {
    CHECK(four.reports[i].loss == Approx(one.reports[i].loss).epsilon(1e-4));
    CHECK(four.reports[i].tokens == one.reports[i].tokens);
    for (const auto& series : layer_series()) {
      CAPTURE(series.name);
      const auto& found = four.reports[i].*series.values;
      const auto& expected = one.reports[i].*series.values;
      REQUIRE(found.size() == expected.size());
      // The variance is a mean of those within shards.
      if (series.values == &StepReport::layer_activation_variance) continue;
      for (std::size_t layer = 0; layer < expected.size(); ++layer)
        CHECK(found[layer] == Approx(expected[layer]).epsilon(1e-4));
    }
  }
}

TEST_CASE("recording changes nothing of training") {
  auto config = toy_training();
  config.record_every = 1;
  Training<float> all(config, 2);
  config.record_every = 100;
  Training<float> few(config, 2);
  for (std::int64_t step = 1; step <= 6; ++step) {
    const auto a = all.trainer.step(step), b = few.trainer.step(step);
    CHECK(same_bits(a.loss, b.loss));
    CHECK(a.layer_attention_entropy.size() == 2);
    CHECK(b.layer_attention_entropy.empty() == (step > 1 && step < 6));
  }
  CHECK(same_bits(all.parameters, few.parameters));
}

// With W_Q = 0 every key that is seen has the same weight: ln n and 1 - 1/n for n of them.
TEST_CASE("entropy and saturation of even attention are those of its rows") {
  Training<double> training(toy_training(), 2);
  for (const char* name : {"decoder.1.self.w_q", "decoder.1.self.b_q"})
    training.parameters.view(name).setZero();
  const auto report = training.trainer.step(1);
  const auto batch = training.task.training_batch(3, 1, 90);
  double entropy = 0, saturation = 0, rows = 0;
  for (std::int64_t b = 0; b < batch.input.count(); ++b) {
    const auto at = static_cast<std::size_t>(b);
    const auto length = batch.input.offsets[at + 1] - batch.input.offsets[at];
    for (std::int64_t n = 1; n <= length; ++n) {
      entropy += std::log(static_cast<double>(n));
      saturation += 1 - 1 / static_cast<double>(n);
      rows += 1;
    }
  }
  REQUIRE(report.layer_attention_entropy.size() == 2);
  CHECK(report.layer_attention_entropy[1] == Approx(entropy / rows).epsilon(1e-12));
  CHECK(report.layer_softmax_saturation[1] == Approx(saturation / rows).epsilon(1e-12));
  CHECK(report.layer_attention_entropy[0] < entropy / rows - 1e-4);
  CHECK(report.layer_softmax_saturation[0] < saturation / rows - 1e-4);
}

TEST_CASE("a layer without heads at work has no attention to record") {
  Training<float> training(toy_training());
  for (const auto& id : training.model.heads().all())
    if (id.layer == 0) training.treatment.mask(id, MaskKind::zero);
  const auto report = training.trainer.step(1);
  CHECK(std::isnan(report.layer_attention_entropy.at(0)));
  CHECK(std::isnan(report.layer_softmax_saturation.at(0)));
  CHECK(report.layer_attention_entropy.at(1) > 0);
  CHECK(report.layer_activation_variance.at(0) > 0);
}

TEST_CASE("a rule that can be learned is learned") {
  auto config = toy_training();
  config.steps = 120;
  config.schedule = {ScheduleKind::cosine, 0.02, 10, 120};
  Training<float> training(config, 1, toy_config());
  const double first = training.trainer.step(1).loss;
  double last = 0;
  for (std::int64_t step = 2; step <= config.steps; ++step) last = training.trainer.step(step).loss;
  CHECK(first > 1.5);  // ln 7 = 1.95 knows nothing
  CHECK(last < 0.1);
}

TEST_CASE("classes of sequences are learned") {
  auto config = toy_training();
  config.steps = 80;
  config.schedule = {ScheduleKind::cosine, 0.02, 10, 80};
  Training<float, ToyClasses> training(config, 2, toy_classifier());
  const double first = training.trainer.step(1).loss;
  double last = 0;
  for (std::int64_t step = 2; step <= config.steps; ++step) last = training.trainer.step(step).loss;
  CHECK(first > 0.4);  // ln 2 = 0.69 knows nothing
  CHECK(last < 0.1);
}

TEST_CASE("a model that gives classes is not trained on tokens, nor the other way round") {
  Training<float> tokens(toy_training(), 1, toy_classifier());
  CHECK_THROWS_WITH(tokens.trainer.step(1), ContainsSubstring("one output per sequence"));
  Training<float, ToyClasses> classes(toy_training());
  CHECK_THROWS_WITH(classes.trainer.step(1), ContainsSubstring("one output per token"));
}

TEST_CASE("clipping scales the gradient that the optimizer sees, not the reported norm") {
  auto config = toy_training();
  config.optimizer.epsilon = 1;  // else Adam's first step does not depend on the scale
  const double norm = Training<double>(config).trainer.step(1).gradient_norm;
  for (const double clip : {norm / 4, norm * 4}) {
    CAPTURE(clip, norm);
    config.clip = clip;
    Training<double> training(config);
    auto expected = training.parameters.clone();
    CHECK(training.trainer.step(1).gradient_norm == norm);
    AdamW<double> adamw(config.optimizer, training.model.layout());
    ThreadTeam team(1);
    adamw.update(expected, training.trainer.gradient(), clip < norm ? clip / norm : 1,
                 config.schedule.at(1), 1, team);
    CHECK(same_bits(training.parameters, expected));
  }
}

TEST_CASE("a head masked in training learns nothing, and the others go on") {
  for (const int threads : {1, 2}) {
    Training<float> training(toy_training(), threads);
    training.treatment.mask({toy_head(0, 1), toy_head(1, 0)}, MaskKind::zero);
    const auto before = training.parameters.clone();
    for (std::int64_t step = 1; step <= 3; ++step) {
      training.trainer.step(step);
      const auto& gradient = training.trainer.gradient();
      CHECK((gradient.view("decoder.0.self.w_q").rightCols(6).array() == 0).all());
      CHECK((gradient.view("decoder.0.self.w_o").bottomRows(6).array() == 0).all());
    }
    for (const char* part : {"w_q", "w_k", "w_v", "b_q", "b_k", "b_v"}) {
      CAPTURE(part);
      const auto name = [&](int layer) { return fmt::format("decoder.{}.self.{}", layer, part); };
      const auto first = training.parameters.view(name(0)),
                 second = training.parameters.view(name(1));
      CHECK((first.rightCols(6) == before.view(name(0)).rightCols(6)));
      CHECK((second.leftCols(4) == before.view(name(1)).leftCols(4)));
      CHECK((first.leftCols(6) != before.view(name(0)).leftCols(6)));
      CHECK((second.rightCols(8) != before.view(name(1)).rightCols(8)));
    }
    const auto first = training.parameters.view("decoder.0.self.w_o");
    CHECK((first.bottomRows(6) == before.view("decoder.0.self.w_o").bottomRows(6)));
    CHECK((first.topRows(6) != before.view("decoder.0.self.w_o").topRows(6)));
    CHECK((training.parameters.view("decoder.0.self.b_o") != before.view("decoder.0.self.b_o")));
  }
}

TEST_CASE("what a step reports adds up") {
  Training<double> training(toy_training());
  for (std::int64_t step = 1; step <= 6; ++step) {
    const auto report = training.trainer.step(step);
    CHECK(report.step == step);
    CHECK(report.learning_rate == 0.01);
    std::vector<double> squares(2, 0.0);
    double total = 0;
    for (const auto& entry : training.model.layout().entries()) {
      const double square = training.trainer.gradient().view(entry.block).squaredNorm();
      total += square;
      if (entry.layer >= 0) squares[static_cast<std::size_t>(entry.layer)] += square;
    }
    CHECK(report.gradient_norm == Approx(std::sqrt(total)));
    REQUIRE(report.layer_gradient_norm.size() == 2);
    CHECK(report.layer_gradient_norm[0] == Approx(std::sqrt(squares[0])));
    CHECK(report.layer_gradient_norm[1] == Approx(std::sqrt(squares[1])));
    // at the first, every second and the last step
    const bool measured = step == 1 || step % 2 == 0;
    for (const auto& series : layer_series()) {
      CAPTURE(series.name);
      CHECK((report.*series.values).size() == (measured ? 2 : 0));
      for (const double value : report.*series.values) CHECK(value > 0);
    }
  }
}

// The message and the parameters after a step that must fail.
std::string failure_of(Training<float>& training, std::int64_t step) {
  const auto before = training.parameters.clone();
  try {
    training.trainer.step(step);
  } catch (const TrainingDiverged& error) {
    CHECK(error.code() == ExitCode::bad_data);
    CHECK(same_bits(training.parameters, before));
    return error.what();
  }
  return "nothing";
}

TEST_CASE("a parameter that is not a number ends training at its layer") {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  for (const auto& [name, said] :
       {std::pair{"decoder.0.feed_forward.w_1", "activations of layer 0"},
        std::pair{"decoder.1.self.w_q", "activations of layer 1"},
        std::pair{"final_norm.gain", "the loss itself"}}) {
    CAPTURE(name);
    Training<float> training(toy_training(), 2);
    training.trainer.step(1);
    training.parameters.view(name)(0, 0) = kNaN;
    const auto message = failure_of(training, 2);
    CHECK_THAT(message, ContainsSubstring("diverged at step 2"));
    CHECK_THAT(message, ContainsSubstring(said));
    CHECK_THAT(message, ContainsSubstring("train.learning-rate"));
  }
}

TEST_CASE("a learning rate far too large is told, and the last parameters stay") {
  auto config = toy_training();
  config.schedule.peak = 1e30;
  Training<float> training(config);
  std::string message = "nothing";
  for (std::int64_t step = 1; step <= 6 && message == "nothing"; ++step)
    message = failure_of(training, step);
  CHECK_THAT(message, ContainsSubstring("training diverged at step "));
}

TEST_CASE("divergence is told the same by any number of threads") {
  std::vector<std::string> messages;
  for (const int threads : {1, 3}) {
    Training<float> training(toy_training(), threads);
    training.parameters.view("decoder.1.self.w_v")(0, 0) = std::numeric_limits<float>::infinity();
    messages.push_back(failure_of(training, 1));
  }
  CHECK(messages[0] == messages[1]);
  CHECK_THAT(messages[0], ContainsSubstring("layer 1"));
}

// Writes down what is asked for.
class Spy : public ToyTask {
 public:
  using Asked = std::tuple<std::uint64_t, std::int64_t, std::int64_t>;
  Batch training_batch(std::uint64_t seed, std::int64_t step, std::int64_t tokens) const override {
    const std::lock_guard lock(mutex_);
    asked.emplace_back(seed, step, tokens);
    return ToyTask::training_batch(seed, step, tokens);
  }
  mutable std::vector<Asked> asked;

 private:
  mutable std::mutex mutex_;
};

TEST_CASE("the batch of a step follows from the data seed and the step alone") {
  for (const int shards : {1, 2, 5})
    for (const int threads : {1, 3}) {
      auto config = toy_training(shards);
      config.dropout_seed = static_cast<std::uint64_t>(100 + shards);
      const Spy spy;
      const Model<float> model(shards == 2 ? toy_config() : with_dropout());
      const auto treatment = HeadTreatment<float>::intact(model.heads());
      ThreadTeam team(threads);
      auto parameters = toy_parameters(model, static_cast<std::uint64_t>(threads));
      Trainer<float> trainer(model, spy, config, treatment, team, parameters);
      for (std::int64_t step = 1; step <= 3; ++step) trainer.step(step);
      CHECK(spy.asked == std::vector<Spy::Asked>{{3, 1, 90}, {3, 2, 90}, {3, 3, 90}});
    }
}

}  // namespace
}  // namespace headcount
