#include "model/initialization/registry.hpp"

namespace headcount {
namespace {

Distribution distribution(const ParameterEntry& parameter, const InitialModel& model) {
  if (parameter.role == ParameterRole::sublayer_scale) return Distribution::constant(0);
  return xavier_uniform_distribution(parameter, model);
}

}  // namespace

InitializationEntry rezero() {
  InitializationEntry entry{
      {"rezero",
       "as xavier-uniform, but α = 0: every layer passes its input on as it is; for "
       "model.residual = scaled-sublayer, meant for model.norm = none",
       "Bachlechner et al. 2021"},
      distribution};
  entry.residual = Residual::scaled_sublayer;
  return entry;
}

}  // namespace headcount
