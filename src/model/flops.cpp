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
    const auto attention = config.attention(static_cast<int>(layer));
    const double head_width = real(attention.head_width);
    const double columns = real(attention.heads.size()) * head_width;
    const double keys = real(attention.key_value_heads().size()) * head_width;
    multiply_adds += tokens * width * projected_columns(attention.sharing, columns, keys) +
                     tokens * width * columns  // W_O
                     + 2 * visible * columns   // scores, contexts
                     + 2 * tokens * width * real(config.feed_forward.at(layer));
    if (attention.average) multiply_adds += 2 * tokens * width * width;
  }
  return 2 * multiply_adds;
}

}  // namespace headcount
