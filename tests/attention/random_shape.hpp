// A random attention sublayer of the kinds that can be built.
#pragma once

#include <rapidcheck.h>

#include "attention/layer.hpp"

namespace headcount::test {

inline LayerShape random_shape() {
  LayerShape shape;
  shape.site = *rc::gen::element(Site::encoder_self, Site::decoder_self, Site::cross);
  shape.mask = shape.site == Site::decoder_self ? AttentionMask::causal : AttentionMask::none;
  shape.encoding = *rc::gen::arbitrary<bool>();
  shape.score = *rc::gen::elementOf(score_functions().names());
  shape.sharing = *rc::gen::element(Sharing::none, Sharing::qk, Sharing::qkv, Sharing::identity);
  shape.group = shape.sharing == Sharing::none ? *rc::gen::inRange(1, 8) : 1;
  shape.head_width = *rc::gen::inRange(1, 4);
  // Without projections a head needs its columns of the input.
  const int most = shape.sharing == Sharing::identity
                       ? static_cast<int>(Layer<double>::kWidth / shape.head_width)
                       : Layer<double>::kHeads;
  shape.heads.clear();
  for (int head = 0; head < most; ++head)
    if (*rc::gen::arbitrary<bool>()) shape.heads.push_back(head);
  shape.average = *rc::gen::element<std::optional<AttentionMask>>(std::nullopt, AttentionMask::none,
                                                                  AttentionMask::causal);
  shape.queries = *rc::gen::container<std::vector<Index>>(2, rc::gen::inRange<Index>(1, 6));
  shape.keys = *rc::gen::container<std::vector<Index>>(2, rc::gen::inRange<Index>(1, 6));
  return shape;
}

// For the message of a law that fails.
inline std::string describe(const LayerShape& shape) {
  return fmt::format(
      "{} mask {} encoding {} score {} share {} group {} width {} heads {} average {}",
      name_of(shape.site), name_of(shape.mask), shape.encoding, shape.score, name_of(shape.sharing),
      shape.group, shape.head_width, shape.heads.size(),
      shape.average ? name_of(*shape.average) : "no");
}

}  // namespace headcount::test
