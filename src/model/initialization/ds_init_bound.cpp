#include <cmath>

#include "model/initialization/registry.hpp"

namespace headcount {

Distribution depth_scaled(const ParameterEntry& parameter, const InitialModel& model,
                          double power) {
  const auto plain = xavier_uniform_distribution(parameter, model);
  if (parameter.layer < 0 || !is_weight(parameter.role)) return plain;
  return plain.times(std::pow(parameter.layer + 1, -power));
}

namespace {

Distribution distribution(const ParameterEntry& parameter, const InitialModel& model) {
  return depth_scaled(parameter, model, 0.5);
}

}  // namespace

InitializationEntry ds_init_bound() {
  return {{"ds-init-bound",
           "as xavier-uniform, but in layer l = 1, 2, ... the bound of weights times 1/√l (the "
           "paper's formula, α = 1)",
           "Zhang, Titov & Sennrich 2019"},
          distribution};
}

}  // namespace headcount
