#include "model/initialization/registry.hpp"

namespace headcount {
namespace {

Distribution distribution(const ParameterEntry& parameter, const InitialModel& model) {
  return depth_scaled(parameter, model, 0.25);
}

}  // namespace

InitializationEntry ds_init_variance() {
  return {{"ds-init-variance",
           "as xavier-uniform, but in layer l = 1, 2, ... the variance of weights times 1/√l, so "
           "their bound times l^-¼ (the paper's prose and the authors' code, α = 1)",
           "Zhang, Titov & Sennrich 2019"},
          distribution};
}

}  // namespace headcount
