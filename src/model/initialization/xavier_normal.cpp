#include <cmath>

#include "model/initialization/registry.hpp"

namespace headcount {
namespace {

// As xavier-uniform with normal weights of the same variance.
Distribution distribution(const ParameterEntry& parameter, const InitialModel& model) {
  const auto uniform = xavier_uniform_distribution(parameter, model);
  if (uniform.kind != Distribution::Kind::uniform) return uniform;
  return Distribution::normal(uniform.value / std::sqrt(3.0));
}

}  // namespace

InitializationEntry xavier_normal() {
  return {{"xavier-normal", "weights normal(√(2/(fan_in + fan_out))), the rest as xavier-uniform",
           "Glorot & Bengio 2010"},
          distribution};
}

}  // namespace headcount
