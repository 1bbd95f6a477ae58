#include "model/sublayer.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace headcount {

std::string_view name_of(NormPlacement placement) {
  return placement == NormPlacement::pre ? "pre" : "post";
}

NormPlacement parse_norm_placement(std::string_view text) {
  for (const auto placement : {NormPlacement::pre, NormPlacement::post})
    if (name_of(placement) == text) return placement;
  throw Error(ExitCode::bad_data,
              fmt::format("unknown norm placement '{}' (known: pre, post)", text));
}

}  // namespace headcount
