#include <algorithm>
#include <map>

#include "catch.hpp"
#include "task/make_task.hpp"

using namespace headcount;

TEST_CASE("different symbols are told in rising order behind a bar") {
  TaskConfig config;
  config.set("task.data", "synthetic.sort");
  config.set("task.length", 4);
  config.set("task.symbols", 9);
  const auto task = make_task(config);
  std::map<std::int64_t, int> offsets;
  for (const Example& example : task->split(SplitName::test).examples) {
    std::vector<Token> sorted(example.input.begin(), example.input.begin() + 4);
    std::ranges::sort(sorted);
    CHECK(std::ranges::adjacent_find(sorted) == sorted.end());
    CHECK(example.input[4] == 9);
    CHECK(std::vector(example.input.begin() + 5, example.input.end()) ==
          std::vector(sorted.begin(), sorted.end() - 1));
    CHECK(std::vector(example.targets.begin() + 4, example.targets.end()) == sorted);
    for (const Relation& relation : example.relations)
      ++offsets[relation.governor.first - relation.dependent.first];
  }
  // A symbol stands at any of 4 places: offsets -4 .. -1 for the first target, -7 .. -4 for the
  // last.
  CHECK(offsets.begin()->first == -7);
  CHECK(offsets.rbegin()->first == -1);
  for (const auto& [offset, count] : offsets) CHECK(count < 1'200);  // of 4,000
}
