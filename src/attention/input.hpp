#pragma once

#include <cstdint>
#include <span>

#include "math/matrix.hpp"

namespace headcount {

// The offsets of packed sequences: sequence b is rows offsets[b] .. offsets[b + 1).
using Offsets = std::span<const std::int64_t>;

inline Index sequences_of(Offsets offsets) { return static_cast<Index>(offsets.size()) - 1; }

struct SequenceRows {
  Index first, count;
};
inline SequenceRows rows_of_sequence(Offsets offsets, Index sequence) {
  const auto b = static_cast<std::size_t>(sequence);
  return {offsets[b], offsets[b + 1] - offsets[b]};
}

// One attention sublayer's input. For self-attention `memory` is `x` and the offsets are the same.
template <class Real>
struct AttentionInput {
  ConstMatrixView<Real> x;       // [Nq, D]
  ConstMatrixView<Real> memory;  // [Nk, D of the memory]
  Offsets query_offsets;
  Offsets key_offsets;
};

}  // namespace headcount
