#include "attention/mask.hpp"

#include "base/enumeration.hpp"

namespace headcount {
namespace {
constexpr auto kMasks = enumeration<AttentionMask>("attention mask", "none", "causal");
}

std::string_view name_of(AttentionMask mask) { return kMasks.name(mask); }
AttentionMask parse_attention_mask(std::string_view text) { return kMasks.parse(text); }

}  // namespace headcount
