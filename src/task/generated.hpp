#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "math/random.hpp"
#include "task/config.hpp"
#include "task/task.hpp"

namespace headcount {

// Makes up examples of a language-modelling task. Where the answer to a target stands in the input,
// the example says so with a query-answer relation: that is the attention that solves the task.
struct Generator {
  std::string definition;               // the source and its parameters: the data hash covers it
  std::vector<std::string> vocabulary;  // by token, printable
  std::int64_t length = 0;              // inputs of an example, the same of all
  std::function<Example(RandomStream)> example;
};

// Held-out example i of a split comes from (a fixed seed, synthetic_data, split, i), whatever the
// seed of a trial; example i of a training step from (seed, data_order, step, i), so that no
// numbers coincide. Each held-out example is a cluster of its own.
std::unique_ptr<Task> make_generated_task(Generator generator, std::int64_t examples);

// Throws Error (bad_data) for held-out splits that are too large to keep; the names of the keys
// that make them so stand in the message.
void check_held_out_size(std::int64_t examples, std::int64_t length, std::string_view examples_key,
                         std::string_view length_key);

// The token at `query` is answered by the one at `answer`.
Relation query_answer(std::int64_t query, std::int64_t answer);

// `count` different numbers out of 0 .. bound-1, in random order.
std::vector<Token> draw_distinct(RandomStream& random, std::int64_t count, std::int64_t bound);

// What the sources have in common that make up a sequence of symbols.
struct SequenceShape {
  std::int64_t length;    // task.length
  std::int64_t symbols;   // task.symbols: tokens 0 .. symbols-1, named s0, s1, ...
  std::int64_t examples;  // task.examples: in each held-out split
};
std::vector<TaskKey> sequence_keys();
SequenceShape sequence_shape(const TaskConfig& config);

// `inputs`: tokens of an example. `marks`: names of the tokens behind the symbols. Throws Error
// (bad_data) as check_held_out_size() does.
std::unique_ptr<Task> make_sequence_task(
    std::string_view source, const SequenceShape& shape, std::int64_t inputs,
    const std::vector<std::string>& marks,
    std::function<Example(const SequenceShape&, RandomStream&)> draw);

// The task "x1 ... xn | y1 ... yn" in which y is x in another order, and only y is scored: 2 n
// inputs, since yn needs none. `order` tells for each y where in x it stands.
struct Rearrangement {
  std::vector<Token> sequence;
  std::vector<std::int64_t> order;
};
std::unique_ptr<Task> make_rearrangement(
    std::string_view source, const SequenceShape& shape,
    std::function<Rearrangement(const SequenceShape&, RandomStream&)> draw);

// `length` symbols, each uniform and independent of the others.
std::vector<Token> draw_symbols(RandomStream& random, const SequenceShape& shape);

}  // namespace headcount
