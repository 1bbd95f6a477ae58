#include <map>
#include <set>

#include "base/error.hpp"
#include "catch.hpp"
#include "task/make_task.hpp"
#include "temporary.hpp"

using namespace headcount;
namespace {

std::string sample_text() {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += static_cast<char>('a' + (i * i + i / 7) % 20);
  return text;
}

TaskConfig config_for(const TemporaryFile& file) {
  TaskConfig config;
  config.set("task.kind", "masked-lm");
  config.set("task.data", "file:" + file.path());
  config.set("task.block", 20);
  return config;
}

// Of tokens in training batches: how many are targets, and what stands in their place.
struct Counts {
  std::int64_t tokens = 0, targets = 0, masks = 0, kept = 0, others = 0;
};

Counts count(const Task& task, int steps) {
  const Token mask = static_cast<Token>(task.vocabulary_size() - 1);
  Counts counts;
  for (int step = 0; step < steps; ++step) {
    const Batch batch = task.training_batch(1, step, 200);
    for (std::size_t i = 0; i < batch.targets.size(); ++i) {
      const Token token = batch.input.tokens[i], target = batch.targets[i];
      ++counts.tokens;
      if (target == kNoTarget) {
        CHECK(token != mask);
        continue;
      }
      ++counts.targets;
      ++(token == mask ? counts.masks : token == target ? counts.kept : counts.others);
    }
  }
  return counts;
}

}  // namespace

TEST_CASE("a share of the tokens is to be restored, most of them behind the mask") {
  const TemporaryFile file(sample_text());
  const auto task = make_task(config_for(file));
  const auto found = count(*task, 1000);
  CHECK(found.tokens == 200'000);
  CHECK(found.targets == 30'000);  // 3 of each window of 20
  CHECK(static_cast<double>(found.masks) == Approx(24'000).margin(4 * 69));
  // A twentieth of the random tokens is the one that stood there; <unk> is one of 21.
  const double same = 3000.0 / 21;
  CHECK(static_cast<double>(found.kept) == Approx(3000 + same).margin(4 * 54));
  CHECK(static_cast<double>(found.others) == Approx(3000 - same).margin(4 * 52));
}

TEST_CASE("every place of a window is as likely to be a target, and every choice of two") {
  const TemporaryFile file(sample_text());
  auto config = config_for(file);
  config.set("task.block", 5);
  config.set("task.masked", 0.4);
  const auto task = make_task(config);
  std::map<std::pair<std::size_t, std::size_t>, int> pairs;
  for (int step = 0; step < 10'000; ++step) {
    const Batch batch = task->training_batch(7, step, 5);
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < 5; ++i)
      if (batch.targets[i] != kNoTarget) places.push_back(i);
    REQUIRE(places.size() == 2);
    ++pairs[{places[0], places[1]}];
  }
  REQUIRE(pairs.size() == 10);
  double chi_square = 0;
  for (const auto& [pair, times] : pairs) chi_square += (times - 1e3) * (times - 1e3) / 1e3;
  CHECK(chi_square < 27.9);  // 0.999, 9 degrees of freedom
}

TEST_CASE("the keys of masked-lm act") {
  const TemporaryFile file(sample_text());
  auto config = config_for(file);
  config.set("task.masked", 1.0);
  config.set("task.masked-random", 0.0);
  config.set("task.masked-kept", 0.0);
  const auto all = count(*make_task(config), 10);
  CHECK(all.masks == all.tokens);
  config.set("task.masked-kept", 1.0);
  const auto kept = count(*make_task(config), 10);
  CHECK(kept.kept == kept.tokens);
  config.set("task.masked-random", 0.5);
  CHECK_THROWS_WITH(make_task(config), ContainsSubstring("task.masked-random = 0.5"));
  config.set("task.masked-kept", 0.0);
  config.set("task.masked", 1e-9);  // one target at least
  const auto few = count(*make_task(config), 10);
  CHECK(few.targets * 20 == few.tokens);
}

TEST_CASE("held-out examples hide always the same tokens, all behind the mask") {
  const TemporaryFile file(sample_text());
  const auto task = make_task(config_for(file)), again = make_task(config_for(file));
  const Token mask = static_cast<Token>(task->vocabulary_size() - 1);
  CHECK(task->text_of(mask) == "<mask>");
  CHECK_THROWS_AS(task->text_of(mask + 1), Error);
  std::set<std::vector<bool>> patterns;
  for (const SplitName name : {SplitName::validation, SplitName::test}) {
    const Split& split = task->split(name);
    REQUIRE(split.examples.size() == 10);
    CHECK(split.target_count() == 30);
    for (std::size_t x = 0; x < split.examples.size(); ++x) {
      const Example& example = split.examples[x];
      CHECK(example.input == again->split(name).examples[x].input);
      CHECK(task->characters(example) == 0);
      std::vector<bool> hidden;
      for (std::size_t i = 0; i < example.input.size(); ++i) {
        hidden.push_back(example.targets[i] != kNoTarget);
        CHECK(hidden.back() == (example.input[i] == mask));
        CHECK(example.targets[i] != mask);
      }
      patterns.insert(hidden);
    }
  }
  CHECK(patterns.size() > 15);
  CHECK(task->metrics() == std::vector<std::string>{"nll", "perplexity", "accuracy"});
}

TEST_CASE("a batch of masked-lm depends on seed and step alone") {
  const TemporaryFile file(sample_text());
  const auto task = make_task(config_for(file));
  const Batch batch = task->training_batch(1, 5, 200);
  CHECK(make_task(config_for(file))->training_batch(1, 5, 200) == batch);
  CHECK(task->training_batch(2, 5, 200) != batch);
  CHECK(task->training_batch(1, 6, 200) != batch);
}

TEST_CASE("the data hash of masked-lm covers what it hides") {
  const TemporaryFile file(sample_text());
  std::set<std::string> hashes{make_task(config_for(file))->data_hash()};
  for (const auto& [key, value] :
       std::map<std::string, TaskConfig::Value>{{"task.masked", 0.2},
                                                {"task.masked-random", 0.2},
                                                {"task.masked-kept", 0.2},
                                                {"task.kind", "language-model"},
                                                {"task.block", 21}}) {
    auto config = config_for(file);
    config.set(key, value);
    CHECK(hashes.insert(make_task(config)->data_hash()).second);
  }
}

TEST_CASE("masked-lm needs text") {
  TaskConfig config;
  config.set("task.kind", "masked-lm");
  config.set("task.data", "synthetic.recall");
  CHECK_THROWS_WITH(make_task(config), ContainsSubstring("task.kind = masked-lm needs text"));
}
