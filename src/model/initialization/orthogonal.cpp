#include "model/initialization/registry.hpp"

namespace headcount {
namespace {

Distribution distribution(const ParameterEntry& parameter, const InitialModel& model) {
  if (is_weight(parameter.role) && !is_embedding(parameter.role))
    return Distribution::orthogonal(1);
  return xavier_uniform_distribution(parameter, model);
}

}  // namespace

InitializationEntry orthogonal_initialization() {
  return {{"orthogonal",
           "weights random with orthonormal rows or columns, whichever are fewer, each of W_Q, "
           "W_K, W_V by itself; embeddings normal(1/√d-model), biases 0, gains 1",
           "Saxe et al. 2014"},
          distribution};
}

}  // namespace headcount
