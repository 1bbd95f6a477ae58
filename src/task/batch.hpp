#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace headcount {

using Token = std::int32_t;
inline constexpr Token kNoTarget = -1;

// Token sequences back to back, without padding. Sequence b is tokens[offsets[b] .. offsets[b +
// 1]).
struct PackedSequences {
  std::vector<Token> tokens;                // [N]
  std::vector<std::int64_t> offsets = {0};  // [B + 1]

  std::int64_t count() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  std::int64_t total() const { return offsets.back(); }
  std::int64_t length(std::int64_t b) const {
    return offsets[std::size_t(b) + 1] - offsets[std::size_t(b)];
  }
  std::int64_t longest() const;
  void append(const std::vector<Token>& sequence);
  bool operator==(const PackedSequences&) const = default;
};

// What targets stand for: the next token at every input position, or the class of a whole sequence.
enum class TargetsPer { token, sequence };
std::string_view name_of(TargetsPer what);

// What a model is fed. One sequence is one example.
struct Batch {
  PackedSequences input;
  TargetsPer targets_per = TargetsPer::token;
  std::vector<Token> targets;  // [N] or [B]; kNoTarget where there is no loss
  std::vector<std::int64_t>
      examples;  // [B] index of each sequence in its split (training: running number)

  std::int64_t target_count() const;
  // Where the targets of sequence b begin, and those before it end; b may be B.
  std::int64_t first_target(std::int64_t b) const {
    return targets_per == TargetsPer::sequence ? b : input.offsets[std::size_t(b)];
  }
  bool operator==(const Batch&) const = default;
};

// Throws Error (bad_data) when a model's outputs stand for something else than a task's targets.
void require_targets_per(TargetsPer outputs, TargetsPer targets);

// Cuts a batch into `shards` runs of whole sequences with nearly equal token counts, in order. Some
// may be empty.
std::vector<Batch> cut_into_shards(const Batch& batch, int shards);

}  // namespace headcount
