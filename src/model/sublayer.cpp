#include "model/sublayer.hpp"

#include "base/enumeration.hpp"

namespace headcount {
namespace {
constexpr auto kPlacements = enumeration<NormPlacement>("norm placement", "pre", "post");
}

std::string_view name_of(NormPlacement placement) { return kPlacements.name(placement); }
NormPlacement parse_norm_placement(std::string_view text) { return kPlacements.parse(text); }

}  // namespace headcount
