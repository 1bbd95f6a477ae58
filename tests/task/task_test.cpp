#include "task/task.hpp"

#include <rapidcheck.h>

#include "base/error.hpp"
#include "catch.hpp"

using namespace headcount;

TEST_CASE("splits have names") {
  for (const SplitName split : {SplitName::train, SplitName::validation, SplitName::test})
    CHECK(parse_split(name_of(split)) == split);
  CHECK_THROWS_WITH(parse_split("valdation"), ContainsSubstring("did you mean 'validation'?"));
}

TEST_CASE("packing keeps the examples, in order, within the size") {
  REQUIRE(rc::check("pack", [] {
    const auto lengths = *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange(1, 20));
    const auto tokens = *rc::gen::inRange<std::int64_t>(1, 60);
    Split split;
    Token next = 0;
    for (const std::int64_t length : lengths) {
      Example example;
      for (std::int64_t i = 0; i < length; ++i) {
        example.input.push_back(next++);
        example.targets.push_back(i % 2 == 0 ? next : kNoTarget);
      }
      split.examples.push_back(example);
    }
    std::int64_t index = 0, targets = 0;
    for (const Batch& batch : pack(split, tokens)) {
      RC_ASSERT(batch.input.count() > 0);
      RC_ASSERT(batch.input.total() <= tokens || batch.input.count() == 1);
      RC_ASSERT(batch.targets.size() == batch.input.tokens.size());
      targets += batch.target_count();
      for (std::int64_t b = 0; b < batch.input.count(); ++b, ++index) {
        RC_ASSERT(batch.examples[std::size_t(b)] == index);
        const auto at = batch.input.offsets[std::size_t(b)];
        const Example& example = split.examples[std::size_t(index)];
        const auto equal = [&](const std::vector<Token>& packed, const std::vector<Token>& own) {
          return std::equal(own.begin(), own.end(), packed.begin() + at);
        };
        RC_ASSERT(batch.input.length(b) == std::ssize(example.input));
        RC_ASSERT(equal(batch.input.tokens, example.input));
        RC_ASSERT(equal(batch.targets, example.targets));
      }
    }
    RC_ASSERT(index == std::ssize(split.examples));
    RC_ASSERT(targets == split.target_count());
  }));
  Split classes;
  classes.targets_per = TargetsPer::sequence;
  classes.examples = {{{1, 2}, {5}, 0, 0}, {{3}, {kNoTarget}, 0, 0}, {{4, 5}, {6}, 0, 0}};
  const auto batches = pack(classes, 3);
  REQUIRE(batches.size() == 2);
  for (const Batch& batch : batches) CHECK(batch.targets_per == TargetsPer::sequence);
  CHECK(batches[0].targets == std::vector<Token>{5, kNoTarget});
  CHECK(batches[1].targets == std::vector<Token>{6});
  CHECK_THROWS_AS(pack(Split{}, 0), Error);
  CHECK(pack(Split{}, 10).empty());
}
