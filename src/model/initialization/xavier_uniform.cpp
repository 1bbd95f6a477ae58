#include <cmath>

#include "model/initialization/registry.hpp"

namespace headcount {

// Weights U(-b, b), b = √(6 / (rows + columns)), each of W_Q, W_K, W_V by itself; embeddings
// normal(D^-½), so that multiplied by √D they have variance 1; biases 0; gains 1.
Distribution xavier_uniform_distribution(const ParameterEntry& parameter,
                                         const InitialModel& model) {
  if (!is_weight(parameter.role)) return neutral(parameter.role);
  if (is_embedding(parameter.role))
    return Distribution::normal(1 / std::sqrt(static_cast<double>(model.width)));
  return Distribution::uniform(std::sqrt(6.0 / (fan_in(parameter) + fan_out(parameter))));
}

InitializationEntry xavier_uniform() {
  return {{"xavier-uniform",
           "weights U(±√(6/(fan_in + fan_out))), embeddings normal(1/√d-model), biases 0, gains 1",
           "Glorot & Bengio 2010"},
          xavier_uniform_distribution};
}

}  // namespace headcount
