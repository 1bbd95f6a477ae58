#include <map>
#include <set>

#include <rapidcheck.h>

#include "base/error.hpp"
#include "catch.hpp"
#include "task/make_task.hpp"

using namespace headcount;
namespace {

TaskConfig recall() {
  TaskConfig config;
  config.set("task.data", "synthetic.recall");
  return config;
}

// Checks one example with a dictionary of its own.
void check_example(const TaskConfig& config, const std::vector<Token>& input,
                   const std::vector<Token>& targets) {
  const auto pairs = std::size_t(config.integer("task.recall-pairs"));
  const auto queries = std::size_t(config.integer("task.recall-queries"));
  const auto keys = config.integer("task.recall-keys");
  const auto values = config.integer("task.recall-values");
  RC_ASSERT(input.size() == 2 * pairs + 2 * queries - 1);
  RC_ASSERT(targets.size() == input.size());
  std::map<Token, Token> known;
  std::set<Token> asked;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const bool key_place = i % 2 == 0, query_place = key_place && i >= 2 * pairs;
    RC_ASSERT(input[i] >= 0 && input[i] < keys + values);
    RC_ASSERT((input[i] < keys) == key_place);
    RC_ASSERT((targets[i] != kNoTarget) == query_place);
    if (!key_place && i < 2 * pairs) known[input[i - 1]] = input[i];
    if (!query_place) continue;
    RC_ASSERT(known.contains(input[i]));
    RC_ASSERT(targets[i] == known[input[i]]);
    RC_ASSERT(asked.insert(input[i]).second);
    if (i + 1 < input.size()) RC_ASSERT(input[i + 1] == targets[i]);
  }
  RC_ASSERT(known.size() == pairs);  // all keys different
}

}  // namespace

TEST_CASE("the answer is the value of the key that is asked for, and only answers are targets") {
  REQUIRE(rc::check("recall", [] {
    TaskConfig config = recall();
    const auto keys = *rc::gen::inRange<std::int64_t>(1, 30);
    const auto pairs = *rc::gen::inRange<std::int64_t>(1, keys + 1);
    config.set("task.recall-keys", keys);
    config.set("task.recall-values", *rc::gen::inRange(2, 30));
    config.set("task.recall-pairs", pairs);
    config.set("task.recall-queries", *rc::gen::inRange<std::int64_t>(1, pairs + 1));
    config.set("task.recall-examples", 5);
    const auto task = make_task(config);
    for (const SplitName name : {SplitName::validation, SplitName::test})
      for (const Example& example : task->split(name).examples)
        check_example(config, example.input, example.targets);

    const Batch batch = task->training_batch(*rc::gen::arbitrary<std::uint64_t>(), 4, 100);
    RC_ASSERT(batch.input.longest() == task->longest_sequence());
    RC_ASSERT(batch.input.total() <= 100 || batch.input.count() == 1);
    for (std::int64_t b = 0; b < batch.input.count(); ++b) {
      const auto begin = batch.input.offsets[std::size_t(b)], end = begin + batch.input.length(b);
      const auto slice = [&](const std::vector<Token>& tokens) {
        return std::vector<Token>(tokens.begin() + begin, tokens.begin() + end);
      };
      check_example(config, slice(batch.input.tokens), slice(batch.targets));
    }
  }));
}

TEST_CASE("training is endless and ordered by seed and step, held-out examples are fixed") {
  const auto task = make_task(recall());
  CHECK(task->training_batch(1, 2, 310) == make_task(recall())->training_batch(1, 2, 310));
  CHECK(task->training_batch(1, 2, 310).input.count() == 10);
  CHECK(task->training_batch(1, 2, 310) != task->training_batch(2, 2, 310));
  std::set<std::vector<Token>> seen;
  for (std::int64_t step = 0; step < 300; ++step)
    seen.insert(task->training_batch(1, step, 1).input.tokens);
  for (const SplitName name : {SplitName::validation, SplitName::test})
    for (const Example& example : task->split(name).examples) seen.insert(example.input);
  CHECK(seen.size() == 300 + 1000 + 1000);
}

TEST_CASE("keys, values and answers are uniform") {
  TaskConfig config = recall();
  config.set("task.recall-keys", 5);
  config.set("task.recall-values", 5);
  config.set("task.recall-pairs", 4);
  config.set("task.recall-queries", 1);
  config.set("task.recall-examples", 5000);
  std::map<Token, int> first_keys, answers;
  std::map<std::size_t, int> places;
  const auto task = make_task(config);
  for (const Example& example : task->split(SplitName::test).examples) {
    ++first_keys[example.input[0]];
    ++answers[example.targets.back()];
    for (std::size_t pair = 0; pair < 4; ++pair)
      places[pair] += example.input[2 * pair] == example.input.back();
  }
  const auto chi_square = [](const auto& counts) {
    const double expected = 5000.0 / double(counts.size());
    double sum = 0;
    for (const auto& [what, count] : counts)
      sum += (count - expected) * (count - expected) / expected;
    return sum;
  };
  CHECK(first_keys.size() == 5);
  CHECK(answers.size() == 5);
  CHECK(chi_square(first_keys) < 18.5);  // 0.999, 4 degrees of freedom
  CHECK(chi_square(answers) < 18.5);
  CHECK(chi_square(places) < 16.3);
}

TEST_CASE("recall tokens have names, and no characters") {
  const auto task = make_task(recall());
  CHECK(task->vocabulary_size() == 32);
  CHECK(task->text_of(3) == "k3");
  CHECK(task->text_of(16 + 7) == "v7");
  CHECK_THROWS_AS(task->text_of(32), Error);
  CHECK(task->characters(task->split(SplitName::test).examples[0]) == 0);
  CHECK(task->metrics() == std::vector<std::string>{"nll", "perplexity", "accuracy"});
}

TEST_CASE("impossible recall is refused by key") {
  const auto refuses = [](const std::string& key, std::int64_t value) {
    const auto make = [&] {
      TaskConfig config = recall();
      config.set(key, value);
      make_task(config);
    };
    CHECK_THROWS_WITH(make(), ContainsSubstring(key + " = " + std::to_string(value)));
  };
  refuses("task.recall-pairs", 17);
  refuses("task.recall-pairs", 0);
  refuses("task.recall-queries", 9);
  refuses("task.recall-keys", -1);
  refuses("task.recall-values", 1);
  refuses("task.recall-values", std::int64_t{1} << 40);
  refuses("task.recall-examples", 0);
}

TEST_CASE("recall examples that would not fit memory are refused") {
  TaskConfig config = recall();
  config.set("task.recall-examples", 1'000'000);
  config.set("task.recall-keys", 4096);
  config.set("task.recall-pairs", 4096);
  CHECK_THROWS_WITH(make_task(config), ContainsSubstring("more than 50000000 tokens"));
}

TEST_CASE("the hash of recall covers its parameters") {
  std::set<std::string> hashes{make_task(recall())->data_hash()};
  for (const auto& [key, value] : {std::pair{"task.recall-pairs", 9},
                                   {"task.recall-queries", 7},
                                   {"task.recall-values", 15},
                                   {"task.recall-examples", 999}}) {
    TaskConfig config = recall();
    config.set(key, value);
    CHECK(hashes.insert(make_task(config)->data_hash()).second);
  }
}
