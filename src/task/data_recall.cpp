#include <fmt/format.h>

#include "base/error.hpp"
#include "task/data_source.hpp"
#include "task/generated.hpp"

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
  check_held_out_size(sizes.examples, 2 * (sizes.pairs + sizes.queries), "task.recall-examples",
                      "task.recall-pairs");
}

std::vector<std::string> vocabulary_of(const Sizes& sizes) {
  std::vector<std::string> names;
  for (std::int64_t key = 0; key < sizes.keys; ++key) names.push_back(fmt::format("k{}", key));
  for (std::int64_t value = 0; value < sizes.values; ++value)
    names.push_back(fmt::format("v{}", value));
  return names;
}

// k1 v1 ... kn vn q1 a1 ... qm (am): tokens 0 .. keys-1 are keys, those behind are values.
Example draw(const Sizes& sizes, RandomStream& random) {
  const std::vector<Token> keys = draw_distinct(random, sizes.pairs, sizes.keys);
  std::vector<Token> values;
  for (std::size_t i = 0; i < keys.size(); ++i)
    values.push_back(
        static_cast<Token>(sizes.keys + random.below(static_cast<std::uint32_t>(sizes.values))));
  const std::vector<Token> asked = draw_distinct(random, sizes.queries, sizes.pairs);

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
    example.relations.push_back(query_answer(std::ssize(example.input), 2 * pair + 1));
    add(keys[i], values[i]);
    add(values[i], kNoTarget);
  }
  example.input.pop_back();  // nothing follows the last answer
  example.targets.pop_back();
  return example;
}

std::unique_ptr<Task> generate(const TaskConfig& config) {
  const Sizes sizes{config.integer("task.recall-pairs"), config.integer("task.recall-queries"),
                    config.integer("task.recall-keys"), config.integer("task.recall-values"),
                    config.integer("task.recall-examples")};
  check(sizes);
  return make_generated_task({fmt::format("synthetic.recall {} {} {} {}", sizes.pairs,
                                          sizes.queries, sizes.keys, sizes.values),
                              vocabulary_of(sizes), 2 * sizes.pairs + 2 * sizes.queries - 1,
                              [sizes](RandomStream random) { return draw(sizes, random); }},
                             sizes.examples);
}

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
      generate};
}

}  // namespace headcount
