#include "task/batch.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/enumeration.hpp"
#include "base/error.hpp"

namespace headcount {
namespace {
constexpr auto kTargetsPer = enumeration<TargetsPer>("targets per", "token", "sequence");
}

std::string_view name_of(TargetsPer what) { return kTargetsPer.name(what); }

std::int64_t PackedSequences::longest() const {
  std::int64_t longest = 0;
  for (std::int64_t b = 0; b < count(); ++b) longest = std::max(longest, length(b));
  return longest;
}

void PackedSequences::append(const std::vector<Token>& sequence) {
  tokens.insert(tokens.end(), sequence.begin(), sequence.end());
  offsets.push_back(static_cast<std::int64_t>(tokens.size()));
}

std::int64_t Batch::target_count() const {
  return std::ssize(targets) - std::ranges::count(targets, kNoTarget);
}

void require_targets_per(TargetsPer outputs, TargetsPer targets) {
  if (outputs != targets)
    throw Error(ExitCode::bad_data,
                fmt::format("the model gives one output per {}, but the task has one target per {}",
                            name_of(outputs), name_of(targets)));
}

namespace {

// Sequences first .. last-1 of a batch.
Batch sequences_between(const Batch& batch, std::int64_t first, std::int64_t last) {
  const auto& offsets = batch.input.offsets;
  const std::int64_t begin = offsets[std::size_t(first)], end = offsets[std::size_t(last)];
  Batch part;
  part.input.tokens.assign(batch.input.tokens.begin() + begin, batch.input.tokens.begin() + end);
  part.targets_per = batch.targets_per;
  part.targets.assign(batch.targets.begin() + batch.first_target(first),
                      batch.targets.begin() + batch.first_target(last));
  part.examples.assign(batch.examples.begin() + first, batch.examples.begin() + last);
  part.input.offsets.clear();
  for (std::int64_t b = first; b <= last; ++b)
    part.input.offsets.push_back(offsets[std::size_t(b)] - begin);
  return part;
}

}  // namespace

std::vector<Batch> cut_into_shards(const Batch& batch, int shards) {
  if (shards < 1)
    throw Error(ExitCode::bad_data, fmt::format("a batch cannot be cut into {} shards", shards));
  std::vector<Batch> parts;
  std::int64_t first = 0;
  for (int shard = 1; shard <= shards; ++shard) {
    // A sequence belongs to the shard whose even share of the tokens holds its middle.
    const auto middle_lies_before_end = [&](std::int64_t b) {
      const auto& offsets = batch.input.offsets;
      return (offsets[std::size_t(b)] + offsets[std::size_t(b) + 1]) * shards <=
             2 * offsets.back() * shard;
    };
    std::int64_t last = first;
    while (last < batch.input.count() && (shard == shards || middle_lies_before_end(last))) ++last;
    parts.push_back(sequences_between(batch, first, last));
    first = last;
  }
  return parts;
}

}  // namespace headcount
