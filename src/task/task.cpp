#include "task/task.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/enumeration.hpp"

namespace headcount {
namespace {
constexpr auto kSplits = enumeration<SplitName>("split", "train", "validation", "test");
}

std::string_view name_of(SplitName split) { return kSplits.name(split); }
SplitName parse_split(std::string_view text) { return kSplits.parse(text); }

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
      text += fmt::format(" in {} documents, {} to {}", held_out.clusters.size(),
                          held_out.clusters.front(), held_out.clusters.back());
    text += '\n';
  }
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
