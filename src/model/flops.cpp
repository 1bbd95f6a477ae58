#include "model/flops.hpp"

#include <cmath>

namespace headcount {

double forward_flops(const ModelConfig& config, Offsets offsets) {
  const auto real = [](auto number) { return static_cast<double>(number); };
  const double width = real(config.width), tokens = real(offsets.back());
  double squares = 0;
  for (std::size_t b = 1; b < offsets.size(); ++b)
    squares += std::pow(real(offsets[b] - offsets[b - 1]), 2);
  double multiply_adds = tokens * width * real(config.vocabulary);
  for (std::size_t layer = 0; layer < config.heads.size(); ++layer) {
    const double columns = real(config.heads[layer].size()) * real(config.head_widths[layer]);
    multiply_adds += 4 * tokens * width * columns  // W_Q, W_K, W_V, W_O
                     + 2 * squares * columns       // scores, contexts
                     + 2 * tokens * width * real(config.feed_forward);
  }
  return 2 * multiply_adds;
}

}  // namespace headcount
