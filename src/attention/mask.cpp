#include "attention/mask.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace headcount {

std::string_view name_of(AttentionMask mask) {
  return mask == AttentionMask::causal ? "causal" : "none";
}

AttentionMask parse_attention_mask(std::string_view text) {
  for (const auto mask : {AttentionMask::none, AttentionMask::causal})
    if (name_of(mask) == text) return mask;
  throw Error(ExitCode::bad_data,
              fmt::format("unknown attention mask '{}' (known: causal, none)", text));
}

}  // namespace headcount
