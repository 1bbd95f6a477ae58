#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/error.hpp"
#include "task/data_source.hpp"
#include "task/generated.hpp"

namespace headcount {
namespace {

Rearrangement draw(const SequenceShape& shape, RandomStream& random) {
  Rearrangement drawn{draw_distinct(random, shape.length, shape.symbols), {}};
  drawn.order.resize(drawn.sequence.size());
  std::iota(drawn.order.begin(), drawn.order.end(), 0);
  std::ranges::sort(drawn.order, {}, [&](std::int64_t place) {
    return drawn.sequence[static_cast<std::size_t>(place)];
  });
  return drawn;
}

std::unique_ptr<Task> generate(const TaskConfig& config) {
  const SequenceShape shape = sequence_shape(config);
  if (shape.length > shape.symbols)
    throw Error(ExitCode::bad_data,
                fmt::format("task.length = {}: the symbols of a sequence that is sorted are all "
                            "different, and task.symbols = {} are too few",
                            shape.length, shape.symbols));
  return make_rearrangement("synthetic.sort", shape, draw);
}

}  // namespace

DataSource sort_source() {
  return {{"synthetic.sort",
           "a sequence of different symbols, a bar, and the symbols in rising order, which alone "
           "are scored; solved by attention to content: the next higher symbol, wherever it stands",
           ""},
          sequence_keys(),
          nullptr,
          generate};
}

}  // namespace headcount
