#include "task/windows.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "math/random.hpp"

namespace headcount {
namespace {
std::int64_t places_ahead(WindowTargets targets) {
  return targets == WindowTargets::following ? 1 : 0;
}
}  // namespace

TaskKey block_key() {
  return {"task.block", TaskKey::Integer{128, 1, 65536}, "length of a training window", "tokens"};
}

TrainingWindows::TrainingWindows(std::vector<std::vector<Token>> documents, std::int64_t block,
                                 WindowTargets targets)
    : documents_(std::move(documents)),
      first_start_{0},
      block_(block),
      ahead_(places_ahead(targets)) {
  if (block < 1)
    throw Error(ExitCode::bad_data, fmt::format("task.block = {}: at least 1 is needed", block));
  for (const auto& document : documents_) {
    const std::int64_t here = std::max<std::int64_t>(std::ssize(document) - ahead_, 0);
    const std::int64_t length = std::min(block, here);
    const std::int64_t starts = length == 0 ? 0 : here - length + 1;
    first_start_.push_back(first_start_.back() + starts);
    longest_ = std::max(longest_, length);
    tokens_ += std::ssize(document);
  }
  if (count() == 0)
    throw Error(ExitCode::bad_data,
                fmt::format("the training split has nothing to predict: no document of {} or more",
                            ahead_ == 0 ? "1 token" : "2 tokens"));
  if (count() > std::numeric_limits<std::uint32_t>::max())
    throw Error(ExitCode::bad_data, fmt::format("{} training windows are too many", count()));
}

Batch TrainingWindows::draw(std::uint64_t seed, std::int64_t step, std::int64_t tokens) const {
  Batch batch;
  for (std::uint32_t item = 0;; ++item) {
    RandomStream random(seed, Purpose::data_order, stream_step(step), item);
    const std::int64_t chosen = random.below(static_cast<std::uint32_t>(count()));
    const auto document = std::ranges::upper_bound(first_start_, chosen) - first_start_.begin() - 1;
    const auto& text = documents_[static_cast<std::size_t>(document)];
    const std::int64_t length = std::min(block_, std::ssize(text) - ahead_);
    if (item > 0 && batch.input.total() + length > tokens) return batch;
    const auto begin = text.begin() + (chosen - first_start_[static_cast<std::size_t>(document)]);
    batch.input.append({begin, begin + length});
    batch.targets.insert(batch.targets.end(), begin + ahead_, begin + ahead_ + length);
    batch.examples.push_back(item);
  }
}

std::vector<Example> held_out_windows(const TokenizedText& document, std::int64_t block,
                                      std::int64_t cluster, WindowTargets targets,
                                      const std::vector<Relation>& relations) {
  std::vector<Example> examples;
  const std::int64_t ahead = places_ahead(targets);
  const std::int64_t in_all = std::ssize(document.tokens) - ahead;
  for (std::int64_t start = 0; start < in_all; start += block) {
    const std::int64_t length = std::min(block, in_all - start);
    const auto begin = document.tokens.begin() + start;
    const auto target = begin + ahead;
    Example example{{begin, begin + length}, {target, target + length}, cluster, 0};
    for (std::int64_t i = start + ahead; i < start + ahead + length; ++i)
      example.characters += document.characters[static_cast<std::size_t>(i)];
    examples.push_back(std::move(example));
  }
  // A relation can only lie in the window where its dependent begins.
  for (const Relation& relation : relations) {
    const std::int64_t window = relation.dependent.first / block;
    if (window >= std::ssize(examples)) continue;
    Example& example = examples[static_cast<std::size_t>(window)];
    const Span part{window * block, window * block + std::ssize(example.input)};
    std::ranges::move(relations_within({relation}, part), std::back_inserter(example.relations));
  }
  return examples;
}

std::uint32_t stream_step(std::int64_t step) {
  if (step < 0 || step > std::numeric_limits<std::uint32_t>::max())
    throw Error(ExitCode::bad_data, fmt::format("step {} is outside 0 .. 4294967295", step));
  return static_cast<std::uint32_t>(step);
}

}  // namespace headcount
