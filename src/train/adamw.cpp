#include "train/adamw.hpp"

#include <cmath>

namespace headcount {

template <class Real>
AdamW<Real>::AdamW(const AdamWConfig& config, const ParameterLayout& layout)
    : config_(config), moments_{Parameters<Real>(layout), Parameters<Real>(layout)} {}

template <class Real>
void AdamW<Real>::update(Parameters<Real>& parameters, const Parameters<Real>& gradient,
                         double gradient_scale, double learning_rate, std::int64_t step) {
  const double t = static_cast<double>(step);
  const Real beta_1 = static_cast<Real>(config_.beta_1), beta_2 = static_cast<Real>(config_.beta_2);
  const Real rest_1 = static_cast<Real>(1 - config_.beta_1);
  const Real rest_2 = static_cast<Real>(1 - config_.beta_2);
  const Real scale = static_cast<Real>(gradient_scale),
             epsilon = static_cast<Real>(config_.epsilon);
  const Real rate = static_cast<Real>(learning_rate / (1 - std::pow(config_.beta_1, t)));
  const Real unbias_2 = static_cast<Real>(1 / (1 - std::pow(config_.beta_2, t)));
  if (config_.weight_decay != 0)
    for (const auto& entry : parameters.layout().entries())
      if (is_weight(entry.role))
        parameters.view(entry.block) *= static_cast<Real>(1 - learning_rate * config_.weight_decay);
  Real* value = parameters.data();
  Real* m = moments_.first.data();
  Real* v = moments_.second.data();
  const Real* d = gradient.data();
  for (Index i = 0; i < parameters.size(); ++i) {
    const Real g = scale * d[i];
    m[i] = beta_1 * m[i] + rest_1 * g;
    v[i] = beta_2 * v[i] + rest_2 * g * g;
    value[i] -= rate * m[i] / (std::sqrt(v[i] * unbias_2) + epsilon);
  }
}

template class AdamW<float>;
template class AdamW<double>;

}  // namespace headcount
