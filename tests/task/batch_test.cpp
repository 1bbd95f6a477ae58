#include "task/batch.hpp"

#include <algorithm>

#include <rapidcheck.h>

#include "base/error.hpp"
#include "catch.hpp"

using namespace headcount;
namespace {

Batch batch_of(const std::vector<std::int64_t>& lengths) {
  Batch batch;
  Token next = 0;
  for (const std::int64_t length : lengths) {
    std::vector<Token> sequence;
    for (std::int64_t i = 0; i < length; ++i) {
      sequence.push_back(next);
      batch.targets.push_back(next % 3 == 0 ? kNoTarget : next + 1);
      ++next;
    }
    batch.input.append(sequence);
    batch.examples.push_back(std::ssize(batch.examples) + 100);
  }
  return batch;
}

// The same sequences with one target each.
Batch with_classes(Batch batch) {
  batch.targets_per = TargetsPer::sequence;
  batch.targets.clear();
  for (std::int64_t b = 0; b < batch.input.count(); ++b)
    batch.targets.push_back(b % 4 == 3 ? kNoTarget : Token(b));
  return batch;
}

Batch joined(const std::vector<Batch>& shards) {
  Batch whole;
  for (const Batch& shard : shards) {
    whole.targets_per = shard.targets_per;
    for (std::int64_t b = 0; b < shard.input.count(); ++b) {
      const auto begin = shard.input.tokens.begin() + shard.input.offsets[std::size_t(b)];
      whole.input.append({begin, begin + shard.input.length(b)});
    }
    whole.targets.insert(whole.targets.end(), shard.targets.begin(), shard.targets.end());
    whole.examples.insert(whole.examples.end(), shard.examples.begin(), shard.examples.end());
  }
  return whole;
}

}  // namespace

TEST_CASE("packed sequences count themselves") {
  const Batch batch = batch_of({3, 1, 4});
  CHECK(batch.input.count() == 3);
  CHECK(batch.input.total() == 8);
  CHECK(batch.input.length(1) == 1);
  CHECK(batch.input.longest() == 4);
  CHECK(batch.target_count() == 5);  // all but tokens 0, 3, 6
  CHECK(PackedSequences{}.longest() == 0);
  CHECK(PackedSequences{}.count() == 0);
}

TEST_CASE("shards by hand") {
  const auto shards = cut_into_shards(batch_of({4, 4, 4, 4}), 2);
  REQUIRE(shards.size() == 2);
  CHECK(shards[0].input.count() == 2);
  CHECK(shards[1].input.tokens.front() == 8);
  CHECK(shards[1].input.offsets == std::vector<std::int64_t>{0, 4, 8});
  CHECK(shards[1].examples == std::vector<std::int64_t>{102, 103});

  const auto more_than_sequences = cut_into_shards(batch_of({2}), 3);
  REQUIRE(more_than_sequences.size() == 3);
  CHECK(joined(more_than_sequences) == batch_of({2}));
  CHECK_THROWS_AS(cut_into_shards(batch_of({2}), 0), Error);
}

TEST_CASE("targets of sequences go with their sequences") {
  const Batch batch = with_classes(batch_of({3, 1, 4, 1}));
  CHECK(batch.target_count() == 3);
  CHECK(batch.first_target(2) == 2);
  CHECK(batch_of({3, 1, 4}).first_target(2) == 4);
  const auto shards = cut_into_shards(batch, 2);
  CHECK(shards[0].targets == std::vector<Token>{0, 1});
  CHECK(shards[1].targets == std::vector<Token>{2, kNoTarget});
  CHECK(shards[1].targets_per == TargetsPer::sequence);
  CHECK(shards[1].target_count() == 1);
}

TEST_CASE("outputs and targets stand for the same") {
  require_targets_per(TargetsPer::token, TargetsPer::token);
  require_targets_per(TargetsPer::sequence, TargetsPer::sequence);
  CHECK_THROWS_WITH(
      require_targets_per(TargetsPer::sequence, TargetsPer::token),
      ContainsSubstring("one output per sequence") && ContainsSubstring("one target per token"));
  CHECK_THROWS_AS(require_targets_per(TargetsPer::token, TargetsPer::sequence), Error);
}

TEST_CASE("shards are the batch, in order and in balance") {
  REQUIRE(rc::check("shards", [] {
    const auto lengths = *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange(1, 40));
    const int count = *rc::gen::inRange(1, 9);
    const bool classes = *rc::gen::arbitrary<bool>();
    const Batch batch = classes ? with_classes(batch_of(lengths)) : batch_of(lengths);
    const auto shards = cut_into_shards(batch, count);
    RC_ASSERT(std::ssize(shards) == count);
    RC_ASSERT(joined(shards) == batch);
    const double share = double(batch.input.total()) / count;
    for (const Batch& shard : shards)
      RC_ASSERT(std::abs(double(shard.input.total()) - share) <= double(batch.input.longest()));
  }));
}
