#include "model/flops.hpp"

namespace headcount {

double forward_flops(const ModelConfig& config, Offsets offsets) {
  const auto real = [](auto number) { return static_cast<double>(number); };
  const double width = real(config.width), tokens = real(offsets.back());
  auto positions = position_config(config);
  positions.longest = 1;  // no long table need be made
  ParameterLayout layout;
  const auto encoding = position_encodings().at(config.positions).make<float>(positions, layout);
  double pairs = 0;  // of a query or a row of a pattern, and what it is multiplied with
  for (std::size_t b = 1; b < offsets.size(); ++b) {
    const double length = real(offsets[b] - offsets[b - 1]);
    pairs += length * (config.mask == AttentionMask::causal ? (length + 1) / 2 : length) +
             length * real(encoding->rows_beside(offsets[b] - offsets[b - 1]));
  }
  double multiply_adds = config.classes > 0
                             ? real(offsets.size() - 1) * width * real(config.classes)
                             : tokens * width * real(config.vocabulary);
  for (std::size_t layer = 0; layer < config.heads.size(); ++layer) {
    const double columns = real(config.heads[layer].size()) * real(config.head_widths[layer]);
    multiply_adds += 4 * tokens * width * columns  // W_Q, W_K, W_V, W_O
                     + 2 * pairs * columns         // scores, contexts
                     + 2 * tokens * width * real(config.feed_forward);
  }
  return 2 * multiply_adds;
}

}  // namespace headcount
