#include <cmath>
#include <numbers>

#include "model/initialization/registry.hpp"

namespace headcount {
namespace {

// 1/√E[f(z)²] for normal z: what keeps the second moment through an activation. E is ½ of relu, and
// 1/3 + 1/(2√3 π) of gelu; of its tanh approximation the same to four digits.
double gain(Activation activation) {
  constexpr double kGelu = 1.0 / 3 + std::numbers::inv_pi / (2 * std::numbers::sqrt3);
  return 1 / std::sqrt(activation == Activation::relu ? 0.5 : kGelu);
}

// He et al. demand n Var[w] E[f(z)²] = 1 of a weight whose n inputs come out of an activation: here
// the second feed-forward matrix alone. The inputs of the others have variance 1.
Distribution distribution(const ParameterEntry& parameter, const InitialModel& model) {
  if (!is_weight(parameter.role)) return neutral(parameter.role);
  if (is_embedding(parameter.role))
    return Distribution::normal(1 / std::sqrt(static_cast<double>(model.width)));
  const auto plain = Distribution::normal(1 / std::sqrt(fan_in(parameter)));
  return parameter.role == ParameterRole::feed_forward_out ? plain.times(gain(model.activation))
                                                           : plain;
}

}  // namespace

InitializationEntry kaiming() {
  return {{"kaiming",
           "weights normal(1/√fan_in), the second feed-forward times the activation's gain (√2 of "
           "relu, 1.53 of gelu); embeddings normal(1/√d-model), biases 0, gains 1",
           "He et al. 2015"},
          distribution};
}

}  // namespace headcount
