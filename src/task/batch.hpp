#pragma once

#include <cstddef>
#include <cstdint>
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

// What a model is fed. One sequence is one example.
struct Batch {
  PackedSequences input;
  std::vector<Token>
      targets;  // [N] next token at each input position, kNoTarget where there is no loss
  std::vector<std::int64_t>
      examples;  // [B] index of each sequence in its split (training: running number)

  std::int64_t target_count() const;
  bool operator==(const Batch&) const = default;
};

// Cuts a batch into `shards` runs of whole sequences with nearly equal token counts, in order. Some
// may be empty.
std::vector<Batch> cut_into_shards(const Batch& batch, int shards);

}  // namespace headcount
