#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "catch.hpp"
#include "task/make_task.hpp"
#include "temporary.hpp"

using namespace headcount;
namespace {

std::string word(int number) {
  std::string word;
  for (; number > 0; number /= 26) word += static_cast<char>('a' + number % 26);
  return word;
}

// Texts of three classes: half are b, a third a, a sixth c.
std::string sample_lines(int count = 600) {
  std::string lines;
  for (int i = 1; i <= count; ++i)
    lines += fmt::format("{} {}\t{}\n", word(7919 * i), word(i * i + 100),
                         std::string{"bababc"}.substr(std::size_t(i % 6), 1));
  return lines;
}

TaskConfig config_for(const TemporaryFile& file) {
  TaskConfig config;
  config.set("task.kind", "classify");
  config.set("task.data", "file:" + file.path());
  return config;
}

std::string text_of(const Task& task, const Example& example) {
  std::string text;
  for (const Token token : example.input) text += task.text_of(token);
  return text;
}

std::map<Token, std::int64_t> classes_in(const Split& split) {
  std::map<Token, std::int64_t> counts;
  for (const Example& example : split.examples) ++counts[example.targets.at(0)];
  return counts;
}

}  // namespace

TEST_CASE("a classifier's examples have one target each, the class of their text") {
  const TemporaryFile file(sample_lines());
  const auto task = make_task(config_for(file));
  CHECK(task->classes() == std::vector<std::string>{"a", "b", "c"});
  CHECK(task->metrics() == std::vector<std::string>{"nll", "accuracy"});
  const std::string lines = sample_lines();
  std::int64_t held_out = 0;
  for (const SplitName name : {SplitName::validation, SplitName::test}) {
    const Split& split = task->split(name);
    CHECK(split.targets_per == TargetsPer::sequence);
    held_out += std::ssize(split.examples);
    for (const Example& example : split.examples) {
      const auto label = task->classes().at(std::size_t(example.targets.at(0)));
      CHECK_THAT(lines, ContainsSubstring(text_of(*task, example) + "\t" + label + "\n"));
      CHECK(split.clusters.at(std::size_t(example.cluster)).starts_with("text "));
    }
  }
  CHECK((held_out > 80 && held_out < 160));  // a fifth of 600
  const Batch batch = task->training_batch(1, 0, 100);
  CHECK(batch.targets_per == TargetsPer::sequence);
  CHECK(std::ssize(batch.targets) == batch.input.count());
  CHECK(batch.input.total() <= 100);
  CHECK(task->training_batch(1, 0, 100) == batch);
  CHECK(task->training_batch(2, 0, 100) != batch);
  CHECK(task->training_batch(1, 1, 100) != batch);
  CHECK(task->training_batch(1, 0, 1).input.count() == 1);
}

TEST_CASE("texts spelled alike stand in one split, and once if they are the same") {
  std::string lines;
  for (int i = 1; i <= 300; ++i)
    lines += fmt::format("The {0}, part 1\tx\nthe {0}: PART 2\tx\nThe {0}, part 1\tx\n",
                         word(7919 * i)) +
             fmt::format("{}\ty\n", word(31 * i));
  const TemporaryFile file(lines + "both\tx\nboth\ty\n");
  const auto task = make_task(config_for(file));
  std::map<SplitName, std::set<std::string>> seen;
  for (const SplitName name : {SplitName::validation, SplitName::test}) {
    const Split& split = task->split(name);
    std::map<std::int64_t, int> cluster_sizes;
    for (const Example& example : split.examples) {
      CHECK(seen[name].insert(text_of(*task, example)).second);
      ++cluster_sizes[example.cluster];
      CHECK(text_of(*task, example) != "both");
    }
    for (const Example& example : split.examples)
      CHECK(cluster_sizes[example.cluster] == (example.targets[0] == 0 ? 2 : 1));
  }
  for (const auto& text : seen[SplitName::test])
    if (text.starts_with("The "))
      CHECK(
          seen[SplitName::test].contains("the " + text.substr(4, text.find(',') - 4) + ": PART 2"));
  CHECK_THAT(task->report(), ContainsSubstring("left out: 300 repeated, 2 with two labels"));
}

TEST_CASE("which split a text is in does not depend on the others") {
  const TemporaryFile file(sample_lines(600)), half(sample_lines(300));
  const auto of_all = make_task(config_for(file)), of_half = make_task(config_for(half));
  std::set<std::string> texts;
  for (const Example& example : of_all->split(SplitName::test).examples)
    texts.insert(text_of(*of_all, example));
  for (const Example& example : of_half->split(SplitName::test).examples)
    CHECK(texts.contains(text_of(*of_half, example)));
}

TEST_CASE("the most frequent labels are kept as classes, in order of their names") {
  const TemporaryFile file(sample_lines());
  auto config = config_for(file);
  config.set("task.classes", 2);
  const auto task = make_task(config);
  CHECK(task->classes() == std::vector<std::string>{"a", "b"});
  CHECK_THAT(task->report(), ContainsSubstring("100 of rarer labels"));
  config.set("task.classes", 1);
  CHECK_THROWS_WITH(make_task(config), ContainsSubstring("number of classes: 1;"));
}

TEST_CASE("balanced classes are as many in a held-out split and as likely in training") {
  const TemporaryFile file(sample_lines());
  auto config = config_for(file);
  const auto plain = make_task(config);
  config.set("task.balanced", "yes");
  const auto balanced = make_task(config);
  for (const SplitName name : {SplitName::validation, SplitName::test}) {
    const auto before = classes_in(plain->split(name)), after = classes_in(balanced->split(name));
    REQUIRE(after.size() == 3);
    for (const auto& [label, count] : after) CHECK(count == before.at(2));
    CHECK(before.at(1) > before.at(2));
  }
  const auto drawn = [](const Task& task) {
    std::map<Token, double> shares;
    for (int step = 0; step < 600; ++step)
      for (const Token label : task.training_batch(3, step, 1).targets) shares[label] += 1 / 600.0;
    return shares;
  };
  for (const auto& [label, share] : drawn(*balanced)) CHECK(share == Approx(1 / 3.0).margin(0.08));
  CHECK(drawn(*plain).at(1) == Approx(0.5).margin(0.08));
  CHECK(drawn(*plain).at(2) == Approx(1 / 6.0).margin(0.07));
}

TEST_CASE("a text behind task.block tokens is cut") {
  const TemporaryFile file(sample_lines());
  auto config = config_for(file);
  config.set("task.block", 3);
  const auto task = make_task(config);
  CHECK(task->longest_sequence() == 3);
  CHECK(task->training_batch(1, 0, 30).input.longest() == 3);
}

TEST_CASE("splits without a text of a class are told") {
  const TemporaryFile file(sample_lines() + "one of a kind\tz\n");
  auto config = config_for(file);
  config.set("task.balanced", "yes");
  CHECK_THROWS_WITH(make_task(config),
                    ContainsSubstring("of class 'z'") && ContainsSubstring("task.classes"));
  const TemporaryFile two("a\tx\nb\ty\n");
  CHECK_THROWS_WITH(make_task(config_for(two)), ContainsSubstring("split has no text"));
  const TemporaryFile blanks(sample_lines() + "\xC2\xA0\ta\n");
  config = config_for(blanks);
  config.set("task.tokenizer", "word");
  CHECK_THROWS_WITH(make_task(config), ContainsSubstring("text 601 has no token"));
}

TEST_CASE("the data hash of a classifier covers what determines its examples") {
  const TemporaryFile file(sample_lines()), other(sample_lines() + "more\ta\n");
  std::set<std::string> hashes{make_task(config_for(file))->data_hash()};
  for (const auto& [key, value] :
       std::map<std::string, TaskConfig::Value>{{"task.classes", 2},
                                                {"task.balanced", "yes"},
                                                {"task.block", 9},
                                                {"task.test", 0.2},
                                                {"task.validation", 0.2},
                                                {"task.tokenizer", "byte"},
                                                {"task.data", "file:" + other.path()}}) {
    auto config = config_for(file);
    config.set(key, value);
    CHECK(hashes.insert(make_task(config)->data_hash()).second);
  }
  const TemporaryFile moved(sample_lines(), "elsewhere.tsv");
  CHECK(hashes.contains(make_task(config_for(moved))->data_hash()));
}

TEST_CASE("classify needs labels") {
  TaskConfig config;
  config.set("task.kind", "classify");
  config.set("task.data", "synthetic.recall");
  CHECK_THROWS_WITH(make_task(config), ContainsSubstring("needs labelled texts"));
  config.set("task.kind", "language-model");
  config.set("task.data", "sections");
  CHECK_THROWS_WITH(make_task(config), ContainsSubstring("language-model needs text"));
}
