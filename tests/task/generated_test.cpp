#include "task/generated.hpp"

#include <map>
#include <set>

#include <rapidcheck.h>

#include "base/error.hpp"
#include "catch.hpp"
#include "task/make_task.hpp"

using namespace headcount;
namespace {

const std::vector<std::string> kSequences{"copy", "reverse", "sort", "induction", "order", "bag"};

TaskConfig config_for(const std::string& source, std::int64_t length = 16,
                      std::int64_t symbols = 32, std::int64_t examples = 20) {
  TaskConfig config;
  config.set("task.data", "synthetic." + source);
  config.set("task.length", length);
  config.set("task.symbols", symbols);
  config.set("task.examples", examples);
  return config;
}

// Every target is the token that its query-answer relation points at, which a causal model sees.
void check_answers(const Task& task, const Example& example) {
  RC_ASSERT(std::ssize(example.input) == task.longest_sequence());
  RC_ASSERT(example.targets.size() == example.input.size());
  std::map<std::int64_t, std::int64_t> answers;
  for (const Relation& relation : example.relations) {
    RC_ASSERT(relation.kind == RelationKind::query_answer);
    const auto [query, answer] = std::pair(relation.dependent.first, relation.governor.first);
    RC_ASSERT((relation.dependent == Span{query, query + 1}));
    RC_ASSERT((relation.governor == Span{answer, answer + 1}));
    RC_ASSERT(answer >= 0 && answer < query && query < task.longest_sequence());
    RC_ASSERT(answers.emplace(query, answer).second);
  }
  for (std::size_t i = 0; i < example.input.size(); ++i) {
    RC_ASSERT(example.input[i] >= 0 && example.input[i] < task.vocabulary_size());
    const auto answer = answers.find(static_cast<std::int64_t>(i));
    RC_ASSERT((example.targets[i] != kNoTarget) == (answer != answers.end()));
    if (answer != answers.end())
      RC_ASSERT(example.targets[i] == example.input[static_cast<std::size_t>(answer->second)]);
  }
}

}  // namespace

TEST_CASE("every target of a made-up sequence stands where its relation says") {
  REQUIRE(rc::check("any source and size", [] {
    const auto source = *rc::gen::elementOf(kSequences);
    const auto length = *rc::gen::inRange<std::int64_t>(4, 40);
    const auto symbols = length + *rc::gen::inRange<std::int64_t>(0, 9);
    const auto task = make_task(config_for(source, length, symbols, 5));
    std::int64_t targets = 0;
    for (const SplitName name : {SplitName::validation, SplitName::test})
      for (const Example& example : task->split(name).examples) {
        check_answers(*task, example);
        targets += std::ssize(example.relations);
      }
    RC_ASSERT(targets >= 10);
  }));
}

TEST_CASE("the answers of recall stand where its relations say") {
  TaskConfig config;
  config.set("task.data", "synthetic.recall");
  config.set("task.recall-examples", 50);
  const auto task = make_task(config);
  REQUIRE(rc::check("recall", [&] {
    for (const Example& example : task->split(SplitName::test).examples)
      check_answers(*task, example);
  }));
}

TEST_CASE("made-up training is ordered by seed and step, and held-out examples are fixed") {
  for (const auto& source : kSequences) {
    CAPTURE(source);
    const auto task = make_task(config_for(source)), again = make_task(config_for(source));
    const Batch batch = task->training_batch(1, 2, 200);
    CHECK(batch == again->training_batch(1, 2, 200));
    CHECK(batch.input.count() == 200 / task->longest_sequence());
    CHECK(batch != task->training_batch(2, 2, 200));
    CHECK(batch != task->training_batch(1, 3, 200));
    std::set<std::vector<Token>> seen;
    for (const SplitName name : {SplitName::validation, SplitName::test}) {
      CHECK(task->split(name).clusters.size() == 20);
      for (std::size_t i = 0; i < 20; ++i) {
        const Example& example = task->split(name).examples[i];
        CHECK(example.input == again->split(name).examples[i].input);
        CHECK(example.cluster == static_cast<std::int64_t>(i));
        seen.insert(example.input);
      }
    }
    CHECK(seen.size() == 40);
    CHECK_THROWS_WITH(task->split(SplitName::train), ContainsSubstring("no fixed examples"));
  }
}

TEST_CASE("the hash of a made-up sequence covers its source and sizes") {
  std::set<std::string> hashes;
  for (const auto& source : kSequences)
    for (const TaskConfig& config : {config_for(source), config_for(source, 17),
                                     config_for(source, 16, 33), config_for(source, 16, 32, 21)})
      CHECK(hashes.insert(make_task(config)->data_hash()).second);
}

TEST_CASE("symbols are named by number, what else there is by its sign") {
  const auto order = make_task(config_for("order", 4, 3));
  std::vector<std::string> names;
  for (Token token = 0; token < order->vocabulary_size(); ++token)
    names.push_back(order->text_of(token));
  CHECK(names == std::vector<std::string>{"s0", "s1", "s2", "A", "B", "?"});
  CHECK_THROWS_AS(order->text_of(6), Error);
  CHECK(make_task(config_for("sort", 3, 3))->text_of(3) == "|");
  CHECK(order->metrics() == std::vector<std::string>{"nll", "perplexity", "accuracy"});
  CHECK(order->characters(order->split(SplitName::test).examples[0]) == 0);
}

TEST_CASE("sequences that cannot be made are refused by key") {
  const auto refused = [](const TaskConfig& config, const std::string& what) {
    CHECK_THROWS_WITH(make_task(config), ContainsSubstring(what));
  };
  refused(config_for("sort", 17, 16), "task.length = 17");
  refused(config_for("induction", 3), "task.length = 3");
  refused(config_for("induction", 12, 2), "task.symbols = 2");
  refused(config_for("copy", 4096, 2, 1'000'000), "more than 50000000 tokens");
}
