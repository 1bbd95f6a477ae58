#include <cmath>

#include "model/initialization/registry.hpp"

namespace headcount {
namespace {

Distribution distribution(const ParameterEntry& parameter, const InitialModel& model) {
  switch (parameter.role) {
    case ParameterRole::attention_output:
    case ParameterRole::feed_forward_out:
      return Distribution::normal(0.02 / std::sqrt(2.0 * model.layers));
    default:
      return is_weight(parameter.role) ? Distribution::normal(0.02) : neutral(parameter.role);
  }
}

}  // namespace

InitializationEntry gpt2_initialization() {
  return {{"gpt2",
           "as normal, but what is added to the residual stream (W_O, second feed-forward) "
           "normal(0.02/√(2·layers))",
           "Radford et al. 2019, section 2.3"},
          distribution};
}

}  // namespace headcount
