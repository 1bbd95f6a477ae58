// Trials on other tasks than a language model's, from spec to file and back.
#include <cmath>

#include <fmt/format.h>

#include "catch.hpp"
#include "run/cost.hpp"
#include "run/stored_trial.hpp"
#include "sample.hpp"
#include "store/reader.hpp"
#include "task/make_task.hpp"
#include "task/temporary.hpp"

namespace headcount {
namespace {

std::string labelled_lines() {
  std::string lines;
  for (int i = 0; i < 120; ++i)
    lines += fmt::format("{}{} {}\t{}\n", char('a' + i % 26), char('a' + i / 26),
                         i % 3 == 0 ? "rain" : "sun", i % 3 == 0 ? "wet" : "dry");
  return lines;
}

std::string plain_text() {
  std::string text;
  for (int i = 0; i < 400; ++i) text += i % 3 == 0 ? "rain " : "sun ";
  return text;
}

// A trial of this kind of task on these bytes, with all that the tiny trial does.
std::filesystem::path run_on(const TemporaryFile& file, const std::filesystem::path& folder,
                             const std::string& kind, std::vector<std::string> sets = {}) {
  sets.insert(sets.begin(),
              {"task.kind=" + kind, "task.data=file:" + file.path(), "task.block=12",
               "train.batch-tokens=120", "train.steps=30", "train.validate-every=15"});
  return run_one(folder, sets);
}

// What holds of every trial that measures and prunes.
void check_stages(const ResultFile& file, const std::string& site) {
  CHECK_FALSE(validate(file.path()));
  for (const char* measure :
       {"entropy", "confidence", "distance", "importance_gradient", "importance_ablation"})
    CHECK(file.exists("/heads/" + site + "/" + measure));
  CHECK(file.exists("/patterns/" + site + "/pattern"));
  for (const auto& method : file.children("/pruning")) {
    const auto nll = file.read<double>("/pruning/" + method + "/nll");
    const auto removed = file.read<double>("/pruning/" + method + "/nll_removed");
    for (std::size_t point = 0; point < nll.size(); ++point)
      if (!std::isnan(removed[point])) CHECK(removed[point] == Approx(nll[point]).epsilon(1e-5));
  }
}

TEST_CASE("a trial classifies texts, and its file names the classes") {
  const TemporaryFile data(labelled_lines());
  const TemporaryFolder folder;
  const ResultFile file(run_on(data, folder.path(), "classify", {"task.balanced=yes"}));
  check_stages(file, "encoder_self");
  const StoredTrial trial(file.path());
  CHECK(trial.model().config().classes == 2);
  for (const SplitName name : {SplitName::validation, SplitName::test}) {
    const auto group = fmt::format("/evaluation/{}", name_of(name));
    CHECK(file.read_texts(group + "/class_name") == std::vector<std::string>{"dry", "wet"});
    CHECK(file.dimensions(group + "/example_class") == std::vector<std::string>{"example"});
    std::vector<std::int64_t> classes;
    for (const auto& example : trial.task().split(name).examples)
      classes.push_back(example.targets.at(0));
    CHECK(file.read<std::int64_t>(group + "/example_class") == classes);
    CHECK(file.read<std::int64_t>(group + "/example_targets") ==
          std::vector<std::int64_t>(classes.size(), 1));
    CHECK(file.exists(group + "/accuracy"));
    CHECK_FALSE(file.exists(group + "/perplexity"));
  }
  CHECK(file.read_scalar<double>("/evaluation/test/nll") < 0.65);  // chance: 0.693
  CHECK(file.shape("/model/output.w") == std::vector<std::size_t>{12, 2});
}

TEST_CASE("the classes of some examples are those of the examples scored") {
  const TemporaryFile data(labelled_lines());
  const TemporaryFolder folder;
  const ResultFile file(run_on(data, folder.path(), "classify", {"evaluate.examples=3"}));
  const StoredTrial trial(file.path());
  const auto& examples = trial.task().split(SplitName::test).examples;
  const auto classes = file.read<std::int64_t>("/evaluation/test/example_class");
  REQUIRE(classes.size() == 3);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(classes[i] == examples[i * examples.size() / 3].targets.at(0));
}

TEST_CASE("a classifier may be causal, and its heads masked") {
  const TemporaryFile data(labelled_lines());
  const TemporaryFolder folder;
  const ResultFile file(run_on(data, folder.path(), "classify",
                               {"attention.mask=causal", "mask.heads=decoder_self:1:1"}));
  check_stages(file, "decoder_self");
  CHECK(file.exists("/evaluation/test/nll_intact"));
}

TEST_CASE("a trial restores hidden tokens from both sides") {
  const TemporaryFile data(plain_text());
  const TemporaryFolder folder;
  const ResultFile file(run_on(data, folder.path(), "masked-lm"));
  check_stages(file, "encoder_self");
  CHECK(file.exists("/evaluation/test/perplexity"));
  CHECK_FALSE(file.exists("/evaluation/test/bits_per_character"));
  CHECK_FALSE(file.exists("/evaluation/test/class_name"));
  CHECK(file.shape("/model/embedding.token")[0] == 8 + 1);  // ainrsu, blank, <unk>; and <mask>
}

TEST_CASE("the cost of a classifier is told from its data") {
  const TemporaryFile data(labelled_lines());
  const auto settings = tiny_settings({"task.kind=classify", "task.data=file:" + data.path()});
  const auto task = make_task(task_config(settings));
  const auto sizes = sizes_of(*task);
  CHECK(sizes.classes == 2);
  CHECK(sizes.window.targets == 1);
  CHECK(sizes.example.targets == 1);
  CHECK(trial_cost(settings, sizes).parameters ==
        Model<float>(model_config(settings, *task)).layout().count());
}

}  // namespace
}  // namespace headcount
