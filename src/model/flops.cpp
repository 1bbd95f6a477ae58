#include "model/flops.hpp"

namespace headcount {

double forward_flops(const ModelConfig& config, Offsets offsets) {
  const auto real = [](auto number) { return static_cast<double>(number); };
  const double width = real(config.width), tokens = real(offsets.back());
  double visible = 0;
  for (std::size_t b = 1; b < offsets.size(); ++b) {
    const double length = real(offsets[b] - offsets[b - 1]);
    visible += length * (config.mask == AttentionMask::causal ? (length + 1) / 2 : length);
  }
  double multiply_adds = config.classes > 0
                             ? real(offsets.size() - 1) * width * real(config.classes)
                             : tokens * width * real(config.vocabulary);
  for (std::size_t layer = 0; layer < config.heads.size(); ++layer) {
    const double columns = real(config.heads[layer].size()) * real(config.head_widths[layer]);
    multiply_adds += 4 * tokens * width * columns  // W_Q, W_K, W_V, W_O
                     + 2 * visible * columns       // scores, contexts
                     + 2 * tokens * width * real(config.feed_forward.at(layer));
  }
  return 2 * multiply_adds;
}

}  // namespace headcount
