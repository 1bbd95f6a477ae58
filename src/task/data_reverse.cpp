#include <numeric>

#include "task/data_source.hpp"
#include "task/generated.hpp"

namespace headcount {
namespace {

Rearrangement draw(const SequenceShape& shape, RandomStream& random) {
  Rearrangement drawn{draw_symbols(random, shape), {}};
  drawn.order.resize(drawn.sequence.size());
  std::iota(drawn.order.rbegin(), drawn.order.rend(), 0);
  return drawn;
}

}  // namespace

DataSource reverse_source() {
  return {{"synthetic.reverse",
           "a random sequence, a bar, and the sequence backwards, which alone is scored; solved by "
           "attention to the position that mirrors the query's: 1, 3, 5, ... tokens back",
           ""},
          sequence_keys(),
          nullptr,
          [](const TaskConfig& config) {
            return make_rearrangement("synthetic.reverse", sequence_shape(config), draw);
          }};
}

}  // namespace headcount
