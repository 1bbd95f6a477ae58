#include <array>
#include <numeric>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "math/random.hpp"
#include "task/data_source.hpp"
#include "task/windows.hpp"

namespace headcount {
namespace {

struct Sizes {
  std::int64_t pairs, queries, keys, values, examples;  // examples in each held-out split
};

// What no key's range says.
void check(const Sizes& sizes) {
  if (sizes.pairs > sizes.keys)
    throw Error(ExitCode::bad_data,
                fmt::format("task.recall-pairs = {} is outside 1 .. {} (the keys of an example are "
                            "all different: task.recall-keys)",
                            sizes.pairs, sizes.keys));
  if (sizes.queries > sizes.pairs)
    throw Error(ExitCode::bad_data,
                fmt::format("task.recall-queries = {} is outside 1 .. {} (each pair is asked for "
                            "once at most: task.recall-pairs)",
                            sizes.queries, sizes.pairs));
  constexpr std::int64_t kMostTokens = 50'000'000;  // of a held-out split
  const std::int64_t length = 2 * (sizes.pairs + sizes.queries);
  if (sizes.examples > kMostTokens / length)
    throw Error(ExitCode::bad_data,
                fmt::format("task.recall-examples = {} of {} tokens each are more than {} tokens; "
                            "lower it, or task.recall-pairs",
                            sizes.examples, length, kMostTokens));
}

// `count` different numbers out of 0 .. bound-1, in random order.
std::vector<Token> draw_distinct(RandomStream& random, std::int64_t count, std::int64_t bound) {
  std::vector<Token> numbers(static_cast<std::size_t>(bound));
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto n = static_cast<std::uint32_t>(count);
  for (std::uint32_t i = 0; i < n; ++i)
    std::swap(numbers[i], numbers[i + random.below(static_cast<std::uint32_t>(bound) - i)]);
  numbers.resize(n);
  return numbers;
}

// k1 v1 ... kn vn q1 a1 ... qm (am): tokens 0 .. keys-1 are keys, those behind are values.
class Recall : public Task {
 public:
  explicit Recall(const Sizes& sizes)
      : pairs_(sizes.pairs), queries_(sizes.queries), keys_(sizes.keys), values_(sizes.values) {
    for (const SplitName name : {SplitName::validation, SplitName::test}) {
      Split& split = held_out_[name == SplitName::test];
      const auto step = static_cast<std::uint32_t>(name);
      for (std::uint32_t i = 0; i < sizes.examples; ++i) {
        split.examples.push_back(
            example(RandomStream(kHeldOutSeed, Purpose::synthetic_data, step, i)));
        split.examples.back().cluster = i;
        split.clusters.push_back(fmt::format("example {}", i + 1));
      }
    }
  }

  std::int64_t vocabulary_size() const override { return keys_ + values_; }
  std::int64_t longest_sequence() const override { return 2 * pairs_ + 2 * queries_ - 1; }
  std::string text_of(Token token) const override {
    if (token < 0 || token >= vocabulary_size())
      throw Error(ExitCode::bad_data, fmt::format("there is no token {} in a vocabulary of {}",
                                                  token, vocabulary_size()));
    return token < keys_ ? fmt::format("k{}", token) : fmt::format("v{}", token - keys_);
  }
  std::vector<std::string> metrics() const override { return {"nll", "perplexity", "accuracy"}; }

  // Another purpose than that of the held-out examples, so the numbers never coincide.
  Batch training_batch(std::uint64_t seed, std::int64_t step, std::int64_t tokens) const override {
    Batch batch;
    for (std::uint32_t item = 0; item == 0 || batch.input.total() + longest_sequence() <= tokens;
         ++item) {
      const Example next =
          example(RandomStream(seed, Purpose::data_order, stream_step(step), item));
      batch.input.append(next.input);
      batch.targets.insert(batch.targets.end(), next.targets.begin(), next.targets.end());
      batch.examples.push_back(item);
    }
    return batch;
  }

  const Split& split(SplitName name) const override {
    if (name == SplitName::train)
      throw Error(ExitCode::bad_data,
                  "the train split has training batches and no fixed examples; take validation or "
                  "test");
    return held_out_[name == SplitName::test];
  }
  std::int64_t characters(const Example&) const override { return 0; }
  std::string data_hash() const override {
    return sha256_hex(fmt::format("language-model synthetic.recall {} {} {} {} {}", pairs_,
                                  queries_, keys_, values_, held_out_[0].examples.size()));
  }
  std::string report() const override {
    return "path: none, generated from the seed\ntrain: endless\n" + Task::report();
  }

 private:
  Example example(RandomStream random) const {
    const std::vector<Token> keys = draw_distinct(random, pairs_, keys_);
    std::vector<Token> values;
    for (std::size_t i = 0; i < keys.size(); ++i)
      values.push_back(
          static_cast<Token>(keys_ + random.below(static_cast<std::uint32_t>(values_))));
    const std::vector<Token> asked = draw_distinct(random, queries_, pairs_);

    Example example;
    const auto add = [&](Token token, Token target) {
      example.input.push_back(token);
      example.targets.push_back(target);
    };
    for (std::size_t i = 0; i < keys.size(); ++i) {
      add(keys[i], kNoTarget);
      add(values[i], kNoTarget);
    }
    for (const Token pair : asked) {
      const auto i = static_cast<std::size_t>(pair);
      add(keys[i], values[i]);
      add(values[i], kNoTarget);
    }
    example.input.pop_back();  // nothing follows the last answer
    example.targets.pop_back();
    return example;
  }

  std::int64_t pairs_, queries_, keys_, values_;
  std::array<Split, 2> held_out_;  // validation, test
};

}  // namespace

DataSource recall_source() {
  return {
      {"synthetic.recall",
       "associative recall: key-value pairs, then keys whose values are to be named; every "
       "answer is known and only answers are scored",
       "after Ba et al. 2016, Using fast weights to attend to the recent past"},
      {{"task.recall-pairs", TaskKey::Integer{8, 1, 4096}, "with synthetic.recall, pairs shown"},
       {"task.recall-queries", TaskKey::Integer{8, 1, 4096},
        "with synthetic.recall, keys asked for"},
       {"task.recall-keys", TaskKey::Integer{16, 1, 65536},
        "with synthetic.recall, different keys"},
       {"task.recall-values", TaskKey::Integer{16, 2, 65536},
        "with synthetic.recall, different values"},
       {"task.recall-examples", TaskKey::Integer{1000, 1, 1'000'000},
        "with synthetic.recall, examples in each held-out split"}},
      nullptr,
      [](const TaskConfig& config) -> std::unique_ptr<Task> {
        const Sizes sizes{config.integer("task.recall-pairs"),
                          config.integer("task.recall-queries"), config.integer("task.recall-keys"),
                          config.integer("task.recall-values"),
                          config.integer("task.recall-examples")};
        check(sizes);
        return std::make_unique<Recall>(sizes);
      }};
}

}  // namespace headcount
