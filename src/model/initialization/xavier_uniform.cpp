#include <cmath>

#include "model/initialization/registry.hpp"

namespace headcount {
namespace {

// Weights U(-b, b), b = √(6 / (rows + columns)), each of W_Q, W_K, W_V by itself; embeddings
// normal(D^-½), so that multiplied by √D they have variance 1; biases 0; gains 1.
Distribution distribution(const ParameterEntry& parameter, const ModelDepth& depth) {
  switch (parameter.role) {
    case ParameterRole::bias:
      return Distribution::constant(0);
    case ParameterRole::norm_gain:
      return Distribution::constant(1);
    case ParameterRole::token_embedding:
    case ParameterRole::position_embedding:
      return Distribution::normal(1 / std::sqrt(static_cast<double>(depth.width)));
    case ParameterRole::score:  // a row is a head's map from K columns to a score
      return Distribution::uniform(std::sqrt(6.0 / static_cast<double>(parameter.block.cols + 1)));
    default:
      return Distribution::uniform(
          std::sqrt(6.0 / static_cast<double>(parameter.block.rows + parameter.block.cols)));
  }
}

}  // namespace

InitializationEntry xavier_uniform() {
  return {{"xavier-uniform",
           "weights U(±√(6/(fan_in + fan_out))), embeddings normal(1/√d-model), biases 0, gains 1",
           "Glorot & Bengio 2010"},
          distribution};
}

}  // namespace headcount
