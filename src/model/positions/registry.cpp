#include "model/positions/registry.hpp"

namespace headcount {

const Registry<PositionEntry>& position_encodings() {
  static const Registry<PositionEntry> registry(
      "position encoding", {no_positions(), sinusoidal_positions(), learned_positions()});
  return registry;
}

}  // namespace headcount
