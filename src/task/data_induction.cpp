#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/error.hpp"
#include "task/data_source.hpp"
#include "task/generated.hpp"

namespace headcount {
namespace {

std::int64_t cue_count(const SequenceShape& shape) {
  return std::max<std::int64_t>(shape.length / 6, 1);
}

// Each cue stands twice, both times before the same answer; single symbols between, which are no
// cues, make up the rest. The answer to a cue's second place is scored.
Example draw(const SequenceShape& shape, RandomStream& random) {
  const std::int64_t cues = cue_count(shape);
  const std::vector<Token> symbols = draw_distinct(random, shape.symbols, shape.symbols);
  // The first symbols are the cues of this example.
  const auto no_cue = [&] {
    const auto others = static_cast<std::uint32_t>(shape.symbols - cues);
    return symbols[static_cast<std::size_t>(cues + random.below(others))];
  };
  std::vector<Token> answers;
  for (std::int64_t cue = 0; cue < cues; ++cue) answers.push_back(no_cue());

  // What follows what: a cue with its answer, or a single symbol.
  constexpr std::int64_t kSingle = -1;
  std::vector<std::int64_t> pieces(static_cast<std::size_t>(shape.length - 2 * cues), kSingle);
  for (std::size_t i = 0; i < 2 * answers.size(); ++i) pieces[i] = static_cast<std::int64_t>(i / 2);
  random.shuffle(pieces);

  Example example;
  std::vector<std::optional<std::int64_t>> answer_places(answers.size());
  for (const std::int64_t piece : pieces) {
    if (piece == kSingle) {
      example.input.push_back(no_cue());
      example.targets.push_back(kNoTarget);
      continue;
    }
    const auto cue = static_cast<std::size_t>(piece);
    const std::int64_t query = std::ssize(example.input);
    if (answer_places[cue]) example.relations.push_back(query_answer(query, *answer_places[cue]));
    example.input.insert(example.input.end(), {symbols[cue], answers[cue]});
    example.targets.insert(example.targets.end(),
                           {answer_places[cue] ? answers[cue] : kNoTarget, kNoTarget});
    answer_places[cue] = query + 1;
  }
  return example;
}

std::unique_ptr<Task> generate(const TaskConfig& config) {
  const SequenceShape shape = sequence_shape(config);
  if (shape.length < 4)
    throw Error(
        ExitCode::bad_data,
        fmt::format("task.length = {}: a pair of symbols that stands twice takes 4", shape.length));
  if (shape.symbols <= cue_count(shape))
    throw Error(ExitCode::bad_data,
                fmt::format("task.symbols = {}: {} symbols repeat in a sequence of task.length = "
                            "{}, and others must be left",
                            shape.symbols, cue_count(shape), shape.length));
  return make_sequence_task("synthetic.induction", shape, shape.length, {}, draw);
}

}  // namespace

DataSource induction_source() {
  return {{"synthetic.induction",
           "random symbols in which pairs A B stand twice, and B is scored where A comes again; "
           "solved by attention to content: what stood behind the earlier A",
           "after Olsson et al. 2022, In-context learning and induction heads"},
          sequence_keys(),
          nullptr,
          generate};
}

}  // namespace headcount
