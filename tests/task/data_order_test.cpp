#include <algorithm>

#include "catch.hpp"
#include "task/make_task.hpp"

using namespace headcount;
namespace {

constexpr Token kA = 4, kB = 5, kQuestion = 6;

const Split& test_split_of(const std::string& source) {
  TaskConfig config;
  config.set("task.data", source);
  config.set("task.length", 6);
  config.set("task.symbols", 4);
  static std::vector<std::unique_ptr<Task>> tasks;
  return tasks.emplace_back(make_task(config))->split(SplitName::test);
}

bool only_last_is_scored(const Example& example) {
  return std::ranges::count(example.targets, kNoTarget) == 6 &&
         example.targets.back() != kNoTarget && example.input.back() == kQuestion;
}

}  // namespace

TEST_CASE("the marker that came first is asked for, and a bag of symbols does not tell it") {
  int first_is_a = 0;
  for (const Example& example : test_split_of("synthetic.order").examples) {
    CHECK(only_last_is_scored(example));
    CHECK(std::ranges::count(example.input, kA) == 1);
    CHECK(std::ranges::count(example.input, kB) == 1);
    const bool a_first =
        std::ranges::find(example.input, kA) < std::ranges::find(example.input, kB);
    CHECK(example.targets.back() == (a_first ? kA : kB));
    first_is_a += a_first;
  }
  CHECK(std::abs(first_is_a - 500) < 80);  // 5 standard deviations
}

TEST_CASE("the control holds one marker, and a bag of symbols tells which") {
  int with_a = 0;
  for (const Example& example : test_split_of("synthetic.bag").examples) {
    CHECK(only_last_is_scored(example));
    const auto a = std::ranges::count(example.input, kA);
    CHECK(a + std::ranges::count(example.input, kB) == 1);
    CHECK(example.targets.back() == (a == 1 ? kA : kB));
    with_a += a == 1;
  }
  CHECK(std::abs(with_a - 500) < 80);
}
