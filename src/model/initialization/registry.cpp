#include "model/initialization/registry.hpp"

namespace headcount {

const Registry<InitializationEntry>& initialization_schemes() {
  static const Registry<InitializationEntry> registry(
      "initialization scheme", {xavier_uniform(), normal_initialization(), gpt2_initialization()});
  return registry;
}

}  // namespace headcount
