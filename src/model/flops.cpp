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
    const auto attention = config.attention(static_cast<int>(layer));
    const double head_width = real(attention.head_width);
    const double columns = real(attention.heads.size()) * head_width;
    const double keys = real(attention.key_value_heads().size()) * head_width;
    multiply_adds += tokens * width * projected_columns(attention.sharing, columns, keys) +
                     tokens * width * columns  // W_O
                     + 2 * pairs * columns     // scores, contexts
                     + 2 * tokens * width * real(config.feed_forward.at(layer));
    if (attention.average) multiply_adds += 2 * tokens * width * width;
  }
  return 2 * multiply_adds;
}

}  // namespace headcount
