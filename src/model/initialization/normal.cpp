#include "model/initialization/registry.hpp"

namespace headcount {
namespace {

Distribution distribution(const ParameterEntry& parameter, const InitialModel&) {
  return is_weight(parameter.role) ? Distribution::normal(0.02) : neutral(parameter.role);
}

}  // namespace

InitializationEntry normal_initialization() {
  return {
      {"normal", "weights and embeddings normal(0.02), biases 0, gains 1", "Devlin et al. 2019"},
      distribution};
}

}  // namespace headcount
