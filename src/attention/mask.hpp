#pragma once

#include <string_view>

#include "math/matrix.hpp"

namespace headcount {

// Which keys a query sees.
enum class AttentionMask {
  none,    // all
  causal,  // those up to its own position; with Tk > Tq the queries are the last Tq positions
};

std::string_view name_of(AttentionMask mask);
AttentionMask parse_attention_mask(std::string_view text);  // throws Error (bad_data)

// The number of keys that query i of Tq sees out of Tk: always the first ones.
inline Index visible_keys(AttentionMask mask, Index i, Index queries, Index keys) {
  return mask == AttentionMask::causal ? keys - queries + i + 1 : keys;
}

}  // namespace headcount
