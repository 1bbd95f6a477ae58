#include <cmath>

#include "model/initialization/registry.hpp"

namespace headcount {
namespace {

// N layers; embeddings times (9N)^-¼ in both kinds of stack. The constants were derived for layers
// as those of an encoder-decoder, (9N)^-¼ for three sublayers a layer.
Distribution distribution(const ParameterEntry& parameter, const InitialModel& model) {
  const auto plain = xavier_uniform_distribution(parameter, model);
  const double decoder = std::pow(9.0 * model.layers, -0.25);
  const double encoder = 0.67 * std::pow(model.layers, -0.25);
  switch (parameter.role) {
    case ParameterRole::token_embedding:
    case ParameterRole::position_embedding:
      return plain.times(decoder);
    case ParameterRole::value:
    case ParameterRole::attention_output:
    case ParameterRole::feed_forward_in:
    case ParameterRole::feed_forward_out:
      return plain.times(model.site == Site::encoder_self ? encoder : decoder);
    default:
      return plain;
  }
}

}  // namespace

InitializationEntry t_fixup() {
  return {{"t-fixup",
           "as xavier-uniform, but embeddings times (9N)^-¼, N the layers; W_V, W_O and "
           "feed-forward times (9N)^-¼ in a causal stack, 0.67 N^-¼ in a bidirectional one; meant "
           "for model.norm = none and train.warm-up = 0",
           "Huang et al. 2020"},
          distribution};
}

}  // namespace headcount
