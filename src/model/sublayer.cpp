#include "model/sublayer.hpp"

#include "base/enumeration.hpp"

namespace headcount {
namespace {
constexpr auto kPlacements = enumeration<NormPlacement>("norm placement", "pre", "post", "none");
constexpr auto kResiduals =
    enumeration<Residual>("residual", "plain", "none", "scaled-stream", "scaled-sublayer");
}  // namespace

std::string_view name_of(NormPlacement placement) { return kPlacements.name(placement); }
NormPlacement parse_norm_placement(std::string_view text) { return kPlacements.parse(text); }
std::vector<std::string> norm_placement_names() { return kPlacements.names(); }

std::string_view name_of(Residual residual) { return kResiduals.name(residual); }
Residual parse_residual(std::string_view text) { return kResiduals.parse(text); }
std::vector<std::string> residual_names() { return kResiduals.names(); }

}  // namespace headcount
