#include "task/generated.hpp"

#include <numeric>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "task/tokenizer.hpp"
#include "task/windows.hpp"

namespace headcount {
namespace {

class GeneratedTask : public Task {
 public:
  GeneratedTask(Generator generator, std::int64_t examples) : generator_(std::move(generator)) {
    for (const SplitName name : {SplitName::validation, SplitName::test}) {
      Split& split = name == SplitName::test ? held_out_.test : held_out_.validation;
      const auto step = static_cast<std::uint32_t>(name);
      for (std::uint32_t i = 0; i < examples; ++i) {
        split.examples.push_back(
            generator_.example(RandomStream(kHeldOutSeed, Purpose::synthetic_data, step, i)));
        split.examples.back().cluster = i;
        split.clusters.push_back(fmt::format("example {}", i + 1));
      }
    }
  }

  std::int64_t vocabulary_size() const override { return std::ssize(generator_.vocabulary); }
  std::int64_t longest_sequence() const override { return generator_.length; }
  std::string text_of(Token token) const override {
    return vocabulary_entry(generator_.vocabulary, token);
  }
  std::vector<std::string> metrics() const override { return {"nll", "perplexity", "accuracy"}; }

  Batch training_batch(std::uint64_t seed, std::int64_t step, std::int64_t tokens) const override {
    Batch batch;
    for (std::uint32_t item = 0; item == 0 || batch.input.total() + generator_.length <= tokens;
         ++item) {
      const Example next =
          generator_.example(RandomStream(seed, Purpose::data_order, stream_step(step), item));
      batch.input.append(next.input);
      batch.targets.insert(batch.targets.end(), next.targets.begin(), next.targets.end());
      batch.examples.push_back(item);
    }
    return batch;
  }

  const Split& split(SplitName name) const override { return held_out_.at(name); }
  std::int64_t characters(const Example&) const override { return 0; }
  std::string data_hash() const override {
    return sha256_hex(
        fmt::format("language-model {} {}", generator_.definition, held_out_.test.examples.size()));
  }
  std::string report() const override {
    return "path: none, generated from the seed\ntrain: endless\n" + Task::report();
  }

 private:
  Generator generator_;
  HeldOut held_out_;
};

Example example_of(const Rearrangement& drawn, Token bar) {
  const std::vector<Token>& sequence = drawn.sequence;
  Example example;
  example.input = sequence;
  example.targets.assign(sequence.size(), kNoTarget);
  Token last = bar;
  for (const std::int64_t from : drawn.order) {
    example.relations.push_back(query_answer(std::ssize(example.input), from));
    example.input.push_back(last);
    last = sequence[static_cast<std::size_t>(from)];
    example.targets.push_back(last);
  }
  return example;
}

}  // namespace

std::unique_ptr<Task> make_generated_task(Generator generator, std::int64_t examples) {
  return std::make_unique<GeneratedTask>(std::move(generator), examples);
}

void check_held_out_size(std::int64_t examples, std::int64_t length, std::string_view examples_key,
                         std::string_view length_key) {
  constexpr std::int64_t kMostTokens = 50'000'000;
  if (examples > kMostTokens / length)
    throw Error(ExitCode::bad_data,
                fmt::format("{} = {} of {} tokens each are more than {} tokens; lower it, or {}",
                            examples_key, examples, length, kMostTokens, length_key));
}

Relation query_answer(std::int64_t query, std::int64_t answer) {
  return {RelationKind::query_answer, {query, query + 1}, {answer, answer + 1}};
}

std::vector<Token> draw_distinct(RandomStream& random, std::int64_t count, std::int64_t bound) {
  std::vector<Token> numbers(static_cast<std::size_t>(bound));
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto n = static_cast<std::uint32_t>(count);
  for (std::uint32_t i = 0; i < n; ++i)
    std::swap(numbers[i], numbers[i + random.below(static_cast<std::uint32_t>(bound) - i)]);
  numbers.resize(n);
  return numbers;
}

std::vector<TaskKey> sequence_keys() {
  return {
      {"task.length", TaskKey::Integer{16, 2, 4096},
       "with synthetic sequences (copy, reverse, sort, induction, order, bag), symbols in one"},
      {"task.symbols", TaskKey::Integer{32, 2, 65536},
       "with synthetic sequences (copy, reverse, sort, induction, order, bag), different symbols"},
      {"task.examples", TaskKey::Integer{1000, 1, 1'000'000},
       "with synthetic sequences (copy, reverse, sort, induction, order, bag), examples in each "
       "held-out split"}};
}

SequenceShape sequence_shape(const TaskConfig& config) {
  return {config.integer("task.length"), config.integer("task.symbols"),
          config.integer("task.examples")};
}

std::unique_ptr<Task> make_sequence_task(
    std::string_view source, const SequenceShape& shape, std::int64_t inputs,
    const std::vector<std::string>& marks,
    std::function<Example(const SequenceShape&, RandomStream&)> draw) {
  check_held_out_size(shape.examples, inputs, "task.examples", "task.length");
  std::vector<std::string> names;
  for (std::int64_t symbol = 0; symbol < shape.symbols; ++symbol)
    names.push_back(fmt::format("s{}", symbol));
  names.insert(names.end(), marks.begin(), marks.end());
  return make_generated_task(
      {fmt::format("{} {} {}", source, shape.length, shape.symbols), std::move(names), inputs,
       [shape, draw = std::move(draw)](RandomStream random) { return draw(shape, random); }},
      shape.examples);
}

std::unique_ptr<Task> make_rearrangement(
    std::string_view source, const SequenceShape& shape,
    std::function<Rearrangement(const SequenceShape&, RandomStream&)> draw) {
  return make_sequence_task(
      source, shape, 2 * shape.length, {"|"},
      [draw = std::move(draw)](const SequenceShape& of, RandomStream& random) {
        return example_of(draw(of, random), static_cast<Token>(of.symbols));
      });
}

std::vector<Token> draw_symbols(RandomStream& random, const SequenceShape& shape) {
  std::vector<Token> symbols;
  for (std::int64_t i = 0; i < shape.length; ++i)
    symbols.push_back(static_cast<Token>(random.below(static_cast<std::uint32_t>(shape.symbols))));
  return symbols;
}

}  // namespace headcount
