#include "measure/registry.hpp"

namespace headcount {

const Registry<MeasureEntry>& measures() {
  static const Registry<MeasureEntry> registry(
      "measure", {entropy(), normalized_entropy(), confidence(), distance(), gradient_importance(),
                  ablation_importance()});
  return registry;
}

}  // namespace headcount
