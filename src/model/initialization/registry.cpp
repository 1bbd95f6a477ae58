#include "model/initialization/registry.hpp"

namespace headcount {

const Registry<InitializationEntry>& initialization_schemes() {
  static const Registry<InitializationEntry> registry(
      "initialization scheme",
      {xavier_uniform(), xavier_normal(), kaiming(), orthogonal_initialization(),
       normal_initialization(), gpt2_initialization(), ds_init_bound(), ds_init_variance(),
       t_fixup(), admin_initialization(), rezero()});
  return registry;
}

}  // namespace headcount
