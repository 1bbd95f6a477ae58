#include "task/task.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/enumeration.hpp"
#include "base/error.hpp"

namespace headcount {
namespace {

constexpr auto kSplits = enumeration<SplitName>("split", "train", "validation", "test");

std::string in_percent(std::int64_t part, std::int64_t all) {
  if (all == 0) return "none";
  return fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(all));
}

// How often each relation occurs, and the share that a fixed offset finds, chosen on validation.
std::string relation_lines(const Split& validation, const Split& test) {
  std::string text;
  for (const auto& guess : try_offsets(best_offsets(validation.examples), test.examples))
    text += fmt::format(
        "{}: {} relations in test; validation's best offset finds {} from the dependent on ({:+}), "
        "{} from the governor on ({:+})\n",
        name_of(guess.kind), guess.relations, in_percent(guess.found_to_governor, guess.relations),
        guess.to_governor, in_percent(guess.found_to_dependent, guess.relations),
        guess.to_dependent);
  return text;
}

}  // namespace

std::string_view name_of(SplitName split) { return kSplits.name(split); }
SplitName parse_split(std::string_view text) { return kSplits.parse(text); }

const Split& HeldOut::at(SplitName name) const {
  if (name == SplitName::train)
    throw Error(ExitCode::bad_data,
                "the train split has training batches and no fixed examples; take validation or "
                "test");
  return name == SplitName::validation ? validation : test;
}

std::int64_t HeldOut::longest() const {
  std::int64_t longest = 0;
  for (const Split* split : {&validation, &test})
    for (const Example& example : split->examples)
      longest = std::max(longest, std::ssize(example.input));
  return longest;
}

std::int64_t Split::target_count() const {
  std::int64_t count = 0;
  for (const Example& example : examples)
    count += std::ssize(example.targets) - std::ranges::count(example.targets, kNoTarget);
  return count;
}

std::string Task::report() const {
  std::string text = fmt::format("vocabulary: {} symbols\nlongest sequence: {} tokens\n",
                                 vocabulary_size(), longest_sequence());
  for (const SplitName name : {SplitName::validation, SplitName::test}) {
    const Split& held_out = split(name);
    text += fmt::format("{}: {} examples, {} targets", name_of(name), held_out.examples.size(),
                        held_out.target_count());
    if (!held_out.clusters.empty())
      text += fmt::format(" in {} clusters, {} to {}", held_out.clusters.size(),
                          held_out.clusters.front(), held_out.clusters.back());
    text += '\n';
  }
  text += relation_lines(split(SplitName::validation), split(SplitName::test));
  return text + fmt::format("data hash: {}\n", data_hash());
}

std::vector<Batch> pack(const Split& split, std::int64_t tokens) {
  if (tokens < 1)
    throw Error(ExitCode::bad_data, fmt::format("batches of {} tokens hold no example", tokens));
  std::vector<Batch> batches;
  for (std::size_t i = 0; i < split.examples.size(); ++i) {
    const Example& example = split.examples[i];
    if (batches.empty() || batches.back().input.total() + std::ssize(example.input) > tokens)
      batches.emplace_back().targets_per = split.targets_per;
    Batch& batch = batches.back();
    batch.input.append(example.input);
    batch.targets.insert(batch.targets.end(), example.targets.begin(), example.targets.end());
    batch.examples.push_back(static_cast<std::int64_t>(i));
  }
  return batches;
}

}  // namespace headcount
