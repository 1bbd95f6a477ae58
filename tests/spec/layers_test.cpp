#include "spec/layers.hpp"

#include "catch.hpp"
#include "spec/sample.hpp"

namespace headcount {
namespace {

using Texts = std::vector<std::string>;

const std::string kSpec =
    "[axis]\n"
    "model.heads = 1, 2\n"
    "seed = 1 .. 3\n"
    "[task]\n"
    "data = austen\n"
    "[model]\n"
    "layers = 6\n"
    "heads = 16\n"
    "[scale.smoke]\n"
    "train.steps = 50\n"
    "model.layers = 2\n"
    "seed = 7\n"
    "[scale.wide]\n"
    "seed = 1 .. 2\n"
    "model.layers = 2, 4\n";

Experiment with(const std::optional<std::string>& scale, const Texts& sets = {}) {
  return parse(kSpec, {scale, sets});
}

TEST_CASE("defaults < file < axis < scale < --set") {
  const auto file = with(std::nullopt);
  CHECK(file.axes == Texts{"model.heads", "seed"});
  CHECK(file.trials.size() == 6);
  CHECK(file.base.integer("train.steps") == 1000);
  CHECK(file.base.integer("model.layers") == 6);
  CHECK(file.base.canonical("model.heads") == "16");
  CHECK(file.trials[5].settings.canonical("model.heads") == "2");

  const auto smoke = with("smoke");
  CHECK(smoke.axes == Texts{"model.heads"});
  CHECK(smoke.trials.size() == 2);
  for (const auto& trial : smoke.trials) {
    CHECK(trial.settings.integer("train.steps") == 50);
    CHECK(trial.settings.integer("model.layers") == 2);
    CHECK(trial.settings.integer("seed") == 7);
  }

  const auto set = with("smoke", {"train.steps=9", "seed = 4 .. 5", "train.steps=8"});
  CHECK(set.axes == Texts{"model.heads", "seed"});
  CHECK(set.trials.size() == 4);
  CHECK(set.trials[3].settings.integer("seed") == 5);
  CHECK(set.trials[3].settings.integer("train.steps") == 8);  // the later --set
}

TEST_CASE("an axis that is replaced keeps its place, a new one comes last") {
  const auto wide = with("wide", {"model.heads=(4 2), 8"});
  CHECK(wide.axes == Texts{"model.heads", "seed", "model.layers"});
  CHECK(wide.trials.size() == 8);
  CHECK(wide.trials[1].axis_values ==
        Point{{"model.heads", "(4 2)"}, {"seed", "1"}, {"model.layers", "4"}});
}

TEST_CASE("a --set on a key whose values hold commas") {
  const std::string spec = std::string(kSampleData);
  CHECK(parse(spec, {std::nullopt, {"measure.measures=entropy, confidence"}}).trials.size() == 1);
  CHECK(parse(spec, {std::nullopt, {"experiment.question=a, b"}}).question == "a, b");
  // Swept: the value is read as [axis] reads it.
  const auto swept = parse(spec + "[axis]\nprune.methods = random\n",
                           {std::nullopt, {"prune.methods=random, (random magnitude)"}});
  REQUIRE(swept.trials.size() == 2);
  CHECK(swept.trials[1].settings.texts("prune.methods") == Texts{"random", "magnitude"});
}

TEST_CASE("mistakes of the command line name their option") {
  const auto problem = [](const std::optional<std::string>& scale, const Texts& sets) {
    return problems_of(kSpec, {scale, sets});
  };
  CHECK(problem("smok", {}) ==
        "--scale smok: test.ini has no [scale.smok]; did you mean 'smoke'? (it has: smoke, wide)");
  CHECK(problem(std::nullopt, {"model.layres=4"}) ==
        "--set model.layres=4: unknown key 'model.layres'; did you mean 'model.layers'?");
  CHECK(problem(std::nullopt, {"model.layers=4.0"}) ==
        "--set model.layers=4.0: model.layers = '4.0': not an integer, or too large for one; write "
        "it in digits alone");
  CHECK(problem(std::nullopt, {"model.layers"}) ==
        "--set model.layers: write --set KEY=VALUE, as in --set model.layers=4");
  CHECK_THAT(problem(std::nullopt, {"experiment.name=../up"}),
             ContainsSubstring("--set experiment.name=../up: experiment.name = '../up': "));
  CHECK_THAT(problem(std::nullopt, {"task.data=a # b"}), ContainsSubstring("begins a comment"));
  CHECK_THAT(problem(std::nullopt, {"seed=1, x"}), ContainsSubstring("seed: 'x': not an integer"));
}

TEST_CASE("scales that are not asked for are checked too") {
  CHECK(problems_of(kSpec + "[scale.full]\ntrain.steps = many\nseed = 1 ..\nsed = 1\n") ==
        "test.ini:17: train.steps = 'many': not an integer\n"
        "test.ini:18: seed: '1 ..': '': needs a value: integer: 0 or more\n"
        "test.ini:19: unknown key 'sed'; did you mean 'seed'?");
}

TEST_CASE("an empty scale is a scale") {
  CHECK(problems_of(std::string(kSampleData) + "[scale.full]\n", {"full", {}}) == "");
}

TEST_CASE("all scales together are read up to a number of values") {
  std::string text;
  for (int i = 0; i < 4; ++i) text += "[scale.s" + std::to_string(i) + "]\nseed = 1 .. 100000\n";
  try {
    parse(text + "[task]\ndata = austen\n");
    FAIL("no error");
  } catch (const SpecError& error) {
    REQUIRE(error.problems().size() == 1);
    CHECK(error.problems()[0].line == 8);
    CHECK_THAT(error.what(), ContainsSubstring("at most 200000 values in all"));
  }
}

}  // namespace
}  // namespace headcount
