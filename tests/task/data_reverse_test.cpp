#include "catch.hpp"
#include "task/make_task.hpp"

using namespace headcount;

TEST_CASE("a sequence is told backwards behind a bar, and no one offset answers") {
  TaskConfig config;
  config.set("task.data", "synthetic.reverse");
  config.set("task.length", 3);
  config.set("task.symbols", 5);
  const auto task = make_task(config);
  for (const Example& example : task->split(SplitName::test).examples) {
    const auto& x = example.input;
    CHECK(x == std::vector<Token>{x[0], x[1], x[2], 5, x[2], x[1]});
    CHECK(example.targets == std::vector<Token>{kNoTarget, kNoTarget, kNoTarget, x[2], x[1], x[0]});
    std::vector<std::int64_t> offsets;
    for (const Relation& relation : example.relations)
      offsets.push_back(relation.governor.first - relation.dependent.first);
    CHECK(offsets == std::vector<std::int64_t>{-1, -3, -5});
  }
}
