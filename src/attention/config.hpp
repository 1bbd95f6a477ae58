#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/mask.hpp"
#include "attention/sites.hpp"
#include "base/registry.hpp"

namespace headcount {

// Which of W_Q, W_K and W_V are one.
enum class Sharing { none, qk, qkv, identity };

struct SharingEntry {
  About about;
  Sharing sharing;
};

const Registry<SharingEntry>& sharings();  // in the order of Sharing
std::string_view name_of(Sharing sharing);

struct AttentionConfig {
  Site site = Site::decoder_self;
  int layer = 0;
  Index width = 0;  // D of the queries' input and of the output
  Index memory_width =
      0;                 // D of the keys' and values' input; the same as `width` for self-attention
  Index head_width = 0;  // K
  std::vector<int> heads;  // original indices of the heads that are present, ascending
  AttentionMask mask = AttentionMask::none;
  std::string score = "scaled-dot";
  Sharing sharing = Sharing::none;
  // So many consecutive heads, by original index, share their keys and values (Ainslie et al. 2023;
  // all of them: Shazeer 2019).
  int group = 1;
  // Also adds the average of the queries' own inputs that this lets each of them see.
  std::optional<AttentionMask> average = std::nullopt;

  // The groups that have a head present, ascending: one key-value head each.
  std::vector<int> key_value_heads() const;
};

// Columns of all projections together, with so many of queries and so many of keys.
template <class Number>
Number projected_columns(Sharing sharing, Number queries, Number keys) {
  switch (sharing) {
    case Sharing::none:
      return queries + 2 * keys;
    case Sharing::qk:
      return 2 * queries;
    case Sharing::qkv:
      return queries;
    case Sharing::identity:
      break;
  }
  return 0;
}

}  // namespace headcount
