#include <numeric>

#include "task/data_source.hpp"
#include "task/generated.hpp"

namespace headcount {
namespace {

Rearrangement draw(const SequenceShape& shape, RandomStream& random) {
  Rearrangement drawn{draw_symbols(random, shape), {}};
  drawn.order.resize(drawn.sequence.size());
  std::iota(drawn.order.begin(), drawn.order.end(), 0);
  return drawn;
}

}  // namespace

DataSource copy_source() {
  return {{"synthetic.copy",
           "a random sequence, a bar, and the sequence again, which alone is scored; solved by "
           "attention to a fixed offset, task.length tokens back",
           ""},
          sequence_keys(),
          nullptr,
          [](const TaskConfig& config) {
            return make_rearrangement("synthetic.copy", sequence_shape(config), draw);
          }};
}

}  // namespace headcount
