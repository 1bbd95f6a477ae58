#include <map>
#include <set>

#include "catch.hpp"
#include "task/make_task.hpp"

using namespace headcount;

TEST_CASE("what follows a symbol that is scored followed it before, and nothing else did") {
  TaskConfig config;
  config.set("task.data", "synthetic.induction");
  config.set("task.length", 24);
  config.set("task.symbols", 12);
  const auto task = make_task(config);
  std::set<Token> cues;
  for (const Example& example : task->split(SplitName::test).examples) {
    std::map<Token, std::vector<std::size_t>> places;
    for (std::size_t i = 0; i < example.input.size(); ++i) places[example.input[i]].push_back(i);
    int scored = 0;
    for (std::size_t i = 0; i < example.input.size(); ++i) {
      if (example.targets[i] == kNoTarget) continue;
      ++scored;
      const Token cue = example.input[i];
      cues.insert(cue);
      REQUIRE(places[cue].size() == 2);
      CHECK(places[cue][1] == i);
      CHECK(example.input[places[cue][0] + 1] == example.targets[i]);
      CHECK(example.input[i + 1] == example.targets[i]);
    }
    CHECK(scored == 4);
  }
  CHECK(cues.size() == 12);  // any symbol can be one
  const auto guess = best_offsets(task->split(SplitName::test).examples).at(0);
  CHECK(guess.found_to_governor * 5 < guess.relations);
}
