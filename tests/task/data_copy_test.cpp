#include "catch.hpp"
#include "task/make_task.hpp"

using namespace headcount;

TEST_CASE("a copy is the sequence behind a bar, and its answers stand a sequence back") {
  TaskConfig config;
  config.set("task.data", "synthetic.copy");
  config.set("task.length", 3);
  config.set("task.symbols", 5);
  const auto task = make_task(config);
  for (const Example& example : task->split(SplitName::test).examples) {
    const auto& x = example.input;
    CHECK(x == std::vector<Token>{x[0], x[1], x[2], 5, x[0], x[1]});
    CHECK(example.targets == std::vector<Token>{kNoTarget, kNoTarget, kNoTarget, x[0], x[1], x[2]});
    CHECK(std::ssize(example.relations) == 3);
    for (const Relation& relation : example.relations)
      CHECK(relation.governor.first == relation.dependent.first - 3);
  }
  const auto guess = best_offsets(task->split(SplitName::test).examples).at(0);
  CHECK(guess.to_governor == -3);
  CHECK(guess.found_to_governor == guess.relations);
}
