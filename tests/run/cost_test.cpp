#include "run/cost.hpp"

#include <rapidcheck.h>

#include "catch.hpp"
#include "run/calibration.hpp"
#include "sample.hpp"
#include "task/make_task.hpp"

namespace headcount {
namespace {

// 10 validation and 20 test examples of 4 tokens; D = 6, two layers of two heads of width 3,
// F = 8, V = 5. One head masks nothing unless a test says so.
const TaskSizes kSizes{5, 4, 10, 20, {1, 4, 16, 4}, {1, 4, 16, 4}};

Settings small(std::vector<std::string> sets) {
  std::vector<std::string> all{
      "model.d-model=6",     "model.heads=2",  "model.feed-forward=8", "model.dropout=0",
      "attention.dropout=0", "train.steps=0",  "measure.measures=",    "measure.during-training=",
      "measure.patterns=0",  "prune.methods=", "prune.latency=0"};
  all.insert(all.end(), sets.begin(), sets.end());
  return tiny_settings(all);
}

// Products of one example forward, by hand: 2·4·6·18 + 2·4·6·6 + 2·(2·4·6·8) a layer, 2·4·6·5 more.
constexpr double kProducts = 2 * (864 + 288 + 768) + 240;
// Of one head and example: scores and context, 2·10·3 each for 1 + 2 + 3 + 4 visible pairs.
constexpr double kHead = 2 * 60;
constexpr double kForward = kProducts + 4 * kHead;
// Ends at the gates of the lowest layer: not through its heads to its input.
constexpr double kGateGradient = 2 * kProducts - 864 + (4 + 2.5 * 2) * kHead;
// Without each head of a layer: its share of the layer's output, what lies between, logits; and for
// those of the first layer the second one.
constexpr double kTop = 144 + 768 + 240, kBelow = kTop + 864 + 288 + 768;
constexpr double kAblations = kForward + 2 * kTop + 2 * (kBelow + 2 * kHead);
constexpr double kTraining = 3 * kProducts + 3.5 * 4 * kHead;

Stages flops(std::vector<std::string> sets) {
  return trial_cost(small(std::move(sets)), kSizes).stage_flops;
}

TEST_CASE("what is not asked for costs nothing but the scores of both splits") {
  const auto cost = flops({});
  CHECK(cost.train == 0);
  CHECK(cost.evaluate == 30 * kForward);
  CHECK(cost.measure == 0);
  CHECK(cost.prune == 0);
  CHECK(flops({"evaluate.examples=12"}).evaluate == (10 + 12) * kForward);
}

TEST_CASE("training counts steps, validations and measures during it") {
  // 60 tokens a batch: 15 sequences of 4; validations after steps 4 and 6
  CHECK(flops({"train.steps=6"}).train == 6 * 15 * kTraining + 2 * 10 * kForward);
  CHECK(flops({"train.steps=8"}).train == 8 * 15 * kTraining + 2 * 10 * kForward);
  CHECK(flops({"train.steps=6", "train.validate-every=0"}).train ==
        6 * 15 * kTraining + 10 * kForward);
  CHECK(flops({"train.steps=6", "measure.during-training=entropy, distance, importance.gradient",
               "measure.examples=7"})
            .train == 6 * 15 * kTraining + 2 * (10 + 7) * kForward + 2 * 7 * kGateGradient);
  CHECK(flops({"train.steps=1", "train.batch-tokens=1"}).train ==
        Approx(kTraining + 10 * kForward));  // one sequence at least
}

TEST_CASE("a mask spares its heads, and the intact model is scored too") {
  const std::string mask = "mask.heads=decoder_self:0:1";
  const double masked = kForward - kHead;
  CHECK(flops({mask}).evaluate == Approx(30 * (masked + kForward)));
  CHECK(flops({mask, "mask.kind=uniform"}).evaluate == Approx(30 * 2 * kForward));
  CHECK(flops({mask, "mask.kind=mean", "measure.examples=3"}).evaluate ==
        Approx(30 * (masked + kForward) + 3 * kForward));
  CHECK(flops({mask, "mask.when=train", "train.steps=1", "train.validate-every=0"}).train ==
        Approx(15 * (kTraining - 3.5 * kHead) + 10 * masked));
  CHECK(flops({mask, "measure.measures=importance.ablation"}).measure ==
        Approx(10 * (masked + 1.5 * kTop + 1.5 * (kBelow + 1.5 * kHead))));
}

TEST_CASE("measures of patterns share one pass, others have their own") {
  CHECK(flops({"measure.measures=entropy"}).measure == 10 * kForward);
  CHECK(flops({"measure.measures=entropy, confidence, distance"}).measure == 10 * kForward);
  CHECK(flops({"measure.measures=importance.gradient", "measure.split=test"}).measure ==
        20 * kGateGradient);
  CHECK(flops({"measure.measures=importance.ablation"}).measure == 10 * kAblations);
  CHECK(flops({"measure.patterns=3"}).measure == 3 * kForward);
  CHECK(flops({"measure.patterns=300"}).measure == 10 * kForward);
}

TEST_CASE("a pruning method costs its order and a curve for every order it makes") {
  // Points at 0, 1, 2, 3 and 4 of 4 heads, none built.
  const std::string points = "prune.step=0.25";
  const double curve = 20 * (5 * kForward - (1 + 2 + 3 + 4) * kHead);
  const auto of = [&](const std::string& method, const std::string& more = "seed=1") {
    return flops({points, "prune.build-at=0", "prune.methods=" + method, more}).prune -
           20 * kForward * (method == "random" ? 3 : 1);  // built with nothing gone
  };
  CHECK(of("importance.gradient") == Approx(10 * kGateGradient + curve));
  CHECK(of("random", "prune.orders=3") == Approx(3 * curve));
  CHECK(of("importance.ablation") == Approx(10 * kAblations + curve));
  // a gradient at every point but the last; masked heads go forward only
  CHECK(of("importance.gradient-iterative") ==
        Approx(10 * (4 * kGateGradient - (1 + 2 + 3) * 2.5 / 2 * kHead) + curve));
}

TEST_CASE("a smaller model that is built has no products of the heads gone") {
  const std::vector<std::string> sets{"prune.step=0.5", "prune.methods=random", "prune.orders=1"};
  const auto with = [&](const std::string& build) {
    auto all = sets;
    all.push_back(build);
    return flops(all).prune;
  };
  const double half = kProducts - 2 * (864 + 288) / 2 + 2 * kHead;
  CHECK(with("prune.build-at=(0 50)") - with("prune.build-at=0") == Approx(20 * half));
  CHECK(with("prune.build-at=(45 50 55)") == Approx(with("prune.build-at=50")));  // one point
}

TEST_CASE("timing smaller models costs pairs of passes") {
  const std::vector<std::string> sets{"prune.step=0.5", "prune.methods=random", "prune.orders=2",
                                      "prune.build-at=50"};
  auto timed = sets;
  timed.push_back("prune.latency=4");
  const double half = kProducts - 2 * (864 + 288) / 2 + 2 * kHead;
  // 20 examples: of 1 and of 16 sequences
  CHECK(flops(timed).prune - flops(sets).prune == Approx(17 * 6 * (kForward + half)));
}

TEST_CASE("a model without heads has nothing to ablate or to prune") {
  const std::vector<std::string> sets{"model.heads=0", "attention.head-width=3",
                                      "measure.measures=importance.ablation",
                                      "prune.methods=importance.gradient, random"};
  const double forward = kProducts - 2 * (864 + 288);
  CHECK(flops(sets).measure == 10 * forward);
  CHECK(flops(sets).prune == 0);
}

TEST_CASE("sizes are those of the data") {
  const auto task = make_task(task_config(tiny_settings()));
  const auto sizes = sizes_of(*task);
  CHECK(sizes.vocabulary == 6);
  CHECK(sizes.longest == 7);
  CHECK(sizes.validation_examples == 12);
  CHECK(sizes.test_examples == 12);
  for (const auto& shape : {sizes.example, sizes.window}) {
    CHECK(shape.sequences == 1);
    CHECK(shape.tokens == 7);
    CHECK(shape.squares == 49);
    CHECK(shape.targets == 2);
  }
}

TEST_CASE("a trial's parameters are those of its model") {
  const auto settings = tiny_settings();
  const auto task = make_task(task_config(settings));
  const Model<float> model(
      model_config(settings, task->vocabulary_size(), task->longest_sequence()));
  CHECK(trial_cost(settings, sizes_of(*task)).parameters == model.layout().count());
}

TEST_CASE("without a calibration there is no time, with one there is") {
  CHECK(std::isnan(trial_cost(small({}), kSizes).seconds));
  Calibration calibration;
  calibration.seconds.fill(1e-9);
  const auto cost = trial_cost(small({"train.steps=2"}), kSizes, &calibration);
  CHECK(cost.seconds > 1e-9 * cost.flops);
  CHECK(cost.seconds == Approx(cost.stage_seconds.total()));
}

TEST_CASE("memory holds what a trial must hold at once") {
  const auto bytes = [](std::vector<std::string> sets, int threads = 1) {
    return trial_cost(small(std::move(sets)), kSizes, nullptr, threads).bytes;
  };
  const std::string large = "model.feed-forward=100000", train = "train.steps=1";
  const double parameters =
      sizeof(float) * static_cast<double>(trial_cost(small({large}), kSizes).parameters);
  // parameters, gradient, two moments and a gradient for every thread
  CHECK(bytes({large, train}) > 5 * parameters);
  CHECK(bytes({large, train}, 2) - bytes({large, train}) > parameters);
  CHECK(bytes({large, train, "evaluate.parameters=best"}) - bytes({large, train}) > parameters);
  const double patterns = 10 * 4 * 16 * sizeof(float);
  CHECK(bytes({train, "measure.patterns=10"}) - bytes({train}) >= patterns);
}

TEST_CASE("more of anything takes no less") {
  Calibration calibration;
  calibration.seconds.fill(1e-9);
  const auto cost = [&](int layers, int width, int heads, int steps) {
    return trial_cost(
        small({fmt::format("model.layers={}", layers), fmt::format("model.d-model={}", width),
               fmt::format("model.heads={}", heads), "attention.head-width=4",
               "model.feed-forward=auto", fmt::format("train.steps={}", steps)}),
        kSizes, &calibration);
  };
  REQUIRE(rc::check("grows", [&] {
    const int layers = *rc::gen::inRange(1, 4), width = *rc::gen::inRange(1, 40),
              heads = *rc::gen::inRange(0, 6), steps = *rc::gen::inRange(0, 9);
    const auto base = cost(layers, width, heads, steps);
    for (const auto& more :
         {cost(layers + 1, width, heads, steps), cost(layers, width + 1, heads, steps),
          cost(layers, width, heads + 1, steps), cost(layers, width, heads, steps + 1)}) {
      RC_ASSERT(more.seconds > base.seconds);
      RC_ASSERT(more.flops > base.flops);
      RC_ASSERT(more.bytes >= base.bytes);
    }
  }));
}

TEST_CASE("a sweep starts the longest trial that can start") {
  CHECK(sweep_seconds({}, 2) == 0);
  CHECK(sweep_seconds({{3}, {1}, {2}}, 1) == 6);
  CHECK(sweep_seconds({{1}, {2}, {3}, {4}}, 2) == 5);  // 4 + 1, 3 + 2
  CHECK(sweep_seconds({{5}, {1}}, 8) == 5);
  // The second takes over the training of the first: it waits, others do not.
  CHECK(sweep_seconds({{2}, {4, 0}}, 2) == 6);
  CHECK(sweep_seconds({{2}, {4, 0}, {3}}, 2) == 6);  // 3 and 2, then 4 from 2 on
}

}  // namespace
}  // namespace headcount
