#include "spec/experiment.hpp"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

#include "catch.hpp"
#include "spec/laws.hpp"
#include "spec/sample.hpp"

namespace headcount {
namespace {

using Texts = std::vector<std::string>;

const std::string kUsual = R"([experiment]
name     = head-count
question = At constant width, how many heads are best?
source   = Vaswani et al. 2017, table 3 (A)

[task]
kind = language-model        # language-model, masked-lm, classify, translate
data = austen                # a named source, or file:PATH
tokenizer = character

[model]
layers = 4
d-model = 128
heads = 8                    # or one per layer: (8 8 4 4)
positions = sinusoidal
init = xavier-uniform

[attention]
score = scaled-dot           # scaled-dot, dot, additive
share = none                 # none, qk, qkv, identity
mask = causal                # causal, none

[train]
steps = 4000
precision = float32

[mask]                       # heads masked during training, evaluation or both
heads = decoder_self:0:*
kind = zero
when = evaluate

[measure]
measures = entropy, confidence, importance.gradient, importance.ablation
patterns = 8                 # sequences whose patterns are stored

[prune]
methods = importance.gradient, random

[axis]                       # cartesian product, in this order
model.heads = 1, 2, 4, 8, 16
seed = 1 .. 5                # inclusive; 0.0 .. 0.9 step 0.1; log(1e-4 .. 1e-2, 3)

[scale.smoke]                # seconds. scale.small: minutes a trial on one core. scale.full: hours
train.steps = 50
)";

TEST_CASE("the usual spec") {
  const auto experiment = parse(kUsual);
  CHECK(experiment.name == "head-count");
  CHECK(experiment.question == "At constant width, how many heads are best?");
  CHECK(experiment.source == "Vaswani et al. 2017, table 3 (A)");
  CHECK(experiment.axes == Texts{"model.heads", "seed"});
  REQUIRE(experiment.trials.size() == 25);
  const auto& trial = experiment.trials[7];
  CHECK(trial.axis_values == Point{{"model.heads", "2"}, {"seed", "3"}});
  CHECK(trial.slug == "heads-2_seed-3");
  CHECK(trial.settings.integer("seed.init") == 3);  // follows the swept seed
  CHECK(trial.settings.integer("train.steps") == 4000);
  CHECK(trial.settings.texts("prune.methods") == Texts{"importance.gradient", "random"});
  CHECK(experiment.base.canonical("model.heads") == "8");
  CHECK(parse(kUsual, {"smoke", {}}).trials[24].settings.integer("train.steps") == 50);
}

TEST_CASE("seed stands above all sections, and seed.init apart from it") {
  const auto experiment = parse("seed = 5\n[seed]\ninit = 9\n" + std::string(kSampleData));
  REQUIRE(experiment.trials.size() == 1);
  CHECK(experiment.trials[0].settings.integer("seed") == 5);
  CHECK(experiment.trials[0].settings.integer("seed.init") == 9);
  CHECK(experiment.trials[0].settings.integer("seed.data") == 5);
  CHECK(experiment.name == "test");  // the file's
  CHECK(experiment.trials[0].slug == "test");
}

TEST_CASE("all errors of a file are told at once, each with its line") {
  CHECK(problems_of("seed = -1\n"
                    "[task]\n"
                    "data = austen\n"
                    "[modle]\n"
                    "layers = 4\n"
                    "[model]\n"
                    "layres = 4\n"
                    "layers = 4.0\n"
                    "heads = 8\n"
                    "heads = 4\n"
                    "init = xavier\n"
                    "[train]\n"
                    "shuffle =\n"
                    "rate = inf\n"
                    "[axis]\n"
                    "model.d-model = 64, 0\n"
                    "experiment.name = a, b\n"
                    "oops\n") ==
        "test.ini:1: seed = '-1': out of range: 0 or more\n"
        "test.ini:4: unknown section 'modle'; did you mean 'model'?\n"
        "test.ini:7: unknown key 'model.layres'; did you mean 'model.layers'?\n"
        "test.ini:8: model.layers = '4.0': not an integer, or too large for one; write it in "
        "digits alone\n"
        "test.ini:10: 'model.heads' is set twice; the first time on line 9\n"
        "test.ini:11: model.init = 'xavier': not one of: xavier-uniform, gaussian\n"
        "test.ini:13: train.shuffle = '': needs a value: yes/no\n"
        "test.ini:14: train.rate = 'inf': not a finite number\n"
        "test.ini:16: model.d-model: '0': out of range: 1 .. 8192\n"
        "test.ini:17: experiment.name says what the experiment is; it cannot be swept\n"
        "test.ini:18: 'oops' is neither [section] nor key = value");
}

TEST_CASE("problems carry file, line and key") {
  try {
    parse("[model]\nlayers = x\n");
    FAIL("nothing was thrown");
  } catch (const SpecError& error) {
    CHECK(error.code() == ExitCode::bad_data);
    REQUIRE(error.problems().size() == 2);
    CHECK(error.problems()[0] ==
          Problem{"test.ini", 2, "model.layers", "model.layers = 'x': not an integer"});
    CHECK(error.problems()[1] ==
          Problem{"test.ini", 0, "task.data",
                  "task.data is not set and has no default: A named source, or file:PATH."});
  }
}

TEST_CASE("what Boost's parser lets through is refused") {
  const std::string head = kSampleData;
  CHECK_THAT(problems_of(head + "[train]\nsteps = -1\n"),
             ContainsSubstring("test.ini:4: train.st"));
  CHECK_THAT(problems_of(head + "[train]\nshuffle =\n"), ContainsSubstring("test.ini:4: train.sh"));
  CHECK_THAT(problems_of(head + "[train]\nrate = nan\n"), ContainsSubstring("test.ini:4: train.r"));
  CHECK_THAT(problems_of(head + "[train]\nsteps = 0x10\n"), ContainsSubstring("not an integer"));
  CHECK_THAT(problems_of(head + "[measure]\nmeasures = entropy confidence\n"),
             ContainsSubstring("'entropy confidence' is not one of"));
  // Lists in one line, and one section in two places, are read.
  CHECK(parse(head + "[measure]\nmeasures = entropy,confidence\n[task]\nkind = classify\n")
            .trials[0]
            .settings.texts("measure.measures")
            .size() == 2);
}

TEST_CASE("sections that are nearly right") {
  const std::string head = kSampleData;
  CHECK(problems_of(head + "[scale]\n") == "test.ini:3: [scale]: write [scale.NAME]");
  CHECK(problems_of(head + "[scale.a.b]\n") == "test.ini:3: [scale.a.b]: write [scale.NAME]");
  CHECK(problems_of(head + "[axes]\n") ==
        "test.ini:3: unknown section 'axes'; did you mean 'axis'?");
  CHECK(problems_of(head + "[scales.smoke]\n") ==
        "test.ini:3: unknown section 'scales.smoke'; did you mean 'scale.smoke'?");
}

TEST_CASE("duplicates are told wherever they stand") {
  const std::string head = kSampleData;
  CHECK(problems_of(head + "[axis]\nseed = 1\nseed = 2\n[scale.s]\nseed = 1\nseed = 2\n") ==
        "test.ini:5: 'axis.seed' is set twice; the first time on line 4\n"
        "test.ini:8: 'scale.s.seed' is set twice; the first time on line 7");
  CHECK(problems_of(head + "[model]\nlayers = 1\n[train]\n[model]\nlayers = 1\n") ==
        "test.ini:7: 'model.layers' is set twice; the first time on line 4");
}

TEST_CASE("sweeps of decimals, of lists and on a logarithm") {
  const auto experiment = parse(std::string(kSampleData) +
                                "[axis]\ntrain.dropout = 0.0 .. 0.3 step 0.1\n"
                                "model.heads = (8 8 4 4), (4 4 4 4)\n"
                                "train.rate = log(1e-4 .. 1e-2, 3)\n");
  REQUIRE(experiment.trials.size() == 4 * 2 * 3);
  const auto& last = experiment.trials.back();
  CHECK(last.settings.canonical("train.dropout") == "0.3");
  CHECK(last.settings.integers("model.heads") == std::vector<std::int64_t>{4, 4, 4, 4});
  CHECK(last.settings.real("train.rate") == 0.01);
}

TEST_CASE("too many trials are refused before they are made") {
  const std::string spec = std::string(kSampleData) +
                           "[axis]\nseed = 1 .. 100000\nmodel.layers = 1 .. 64\n"
                           "model.d-model = 1 .. 8192\ntrain.steps = 1 .. 100000\n";
  CHECK(problems_of(spec) ==
        "test.ini:7: the axes make more than 10000 trials; leave values out, or raise "
        "experiment.max-trials");
  const std::string three = std::string(kSampleData) + "[axis]\nseed = 1 .. 3\n";
  CHECK(problems_of(three, {std::nullopt, {"experiment.max-trials=3"}}) == "");
  CHECK_THAT(problems_of(three, {std::nullopt, {"experiment.max-trials=2"}}),
             ContainsSubstring("test.ini:4: the axes make more than 2 trials"));
}

TEST_CASE("a required key may be swept alone, and is then not in the base") {
  const auto experiment = parse("[axis]\ntask.data = austen, file:x\n");
  CHECK(experiment.trials.size() == 2);
  CHECK_FALSE(experiment.base.has("task.data"));
}

TEST_CASE("what the model finds is told with the line of its key, once, beside other errors") {
  const auto check = [](const Settings& settings) {
    std::vector<KeyProblem> found;
    const auto width = settings.integer("model.d-model");
    for (const auto heads : settings.integers("model.heads"))
      if (width % heads != 0)
        found.push_back({"model.heads", fmt::format("{} does not divide {}", heads, width)});
    if (settings.integer("model.layers") == 4) found.push_back({"model.layers", "four"});
    if (settings.is("train.steps", "7")) found.push_back({"train.steps", "seven"});
    return found;
  };
  CHECK(
      problems_of("[task]\ndata = austen\ndta = x\n[axis]\nmodel.heads = 2, 3, 5\nseed = 1 .. 9\n",
                  {std::nullopt, {"train.steps=7"}}, check) ==
      "test.ini:3: unknown key 'task.dta'; did you mean 'task.data'?\n"
      "test.ini:5: model.heads: 3 does not divide 128\n"
      "test.ini:5: model.heads: 5 does not divide 128\n"
      "test.ini: model.layers: four\n"
      "--set train.steps=7: train.steps: seven");
  // With a value that could not be read there are no settings to check.
  CHECK(problems_of("[task]\ndata = austen\n[train]\nsteps = x\n", {}, check) ==
        "test.ini:4: train.steps = 'x': not an integer");
}

TEST_CASE("a spec from a file") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("headcount-spec-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const auto path = folder / "my spec.ini";
  std::ofstream(path) << kSampleData;
  CHECK(load_experiment(path, sample_schema()).name == "my-spec");
  std::filesystem::remove(path);
  try {
    load_experiment(path, sample_schema());
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::no_input);
    CHECK_THAT(error.what(), ContainsSubstring("my spec.ini"));
  }
  std::filesystem::remove_all(folder);
}

void parse_or_throw_spec_error(const std::string& text) {
  try {
    parse(text, {"smoke", {text.substr(0, 40)}});
  } catch (const SpecError& error) {
    RC_ASSERT(!error.problems().empty());
  }
}

TEST_CASE("law: no bytes crash the parser") {
  REQUIRE(rc::check("any bytes", [](const std::string& text) { parse_or_throw_spec_error(text); }));
  REQUIRE(rc::check("the alphabet of specs", [] {
    parse_or_throw_spec_error(*rc::gen::container<std::string>(
        rc::gen::elementOf(std::string("[]=#;\"%. ,()\n\r\tse1-axislogmodel"))));
  }));
  REQUIRE(rc::check("the usual spec, broken", [] {
    auto text = kUsual;
    const int cuts = *rc::gen::inRange(1, 6);
    for (int i = 0; i < cuts; ++i) {
      const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
      const auto length = *rc::gen::inRange<std::size_t>(0, 12);
      text.replace(at, length,
                   *rc::gen::element<std::string>("", "[", "]", "=", "..", ",", "(", "\"", "\n",
                                                  " # ", "1e999", "[axis]\n", "\xff", "step"));
    }
    parse_or_throw_spec_error(text);
  }));
}

}  // namespace
}  // namespace headcount
