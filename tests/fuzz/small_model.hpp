// A model with so few parameters that a fuzzer spends its time elsewhere.
#pragma once

#include "model/model.hpp"

namespace headcount::fuzz {

inline ModelConfig small_config() {
  ModelConfig config;
  config.vocabulary = 3;
  config.longest = 4;
  config.width = 2;
  config.feed_forward = 2;
  config.set_heads({1, 2}, {2, 1});
  return config;
}

}  // namespace headcount::fuzz
