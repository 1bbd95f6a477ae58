#include "model/flops.hpp"

#include "catch.hpp"

namespace headcount {
namespace {

TEST_CASE("arithmetic of a forward pass, by hand") {
  ModelConfig config;
  config.vocabulary = 10;
  config.width = 4;
  config.feed_forward = 8;
  config.set_heads({2, 1}, {2, 3});
  const std::vector<std::int64_t> offsets{0, 3,
                                          5};  // 5 tokens, 1 + 2 + 3 + 1 + 2 = 9 visible pairs
  // Layer 0, H·K = 4: 5·4·12 + 5·4·4, 2·9·4; layer 1, H·K = 3: 5·4·9 + 5·3·4, 2·9·3; 2·5·4·8
  // between in both; 5·4·10 logits.
  CHECK(forward_flops(config, offsets) == 2 * ((240 + 80 + 72) + (180 + 60 + 54) + 2 * 320 + 200));
  auto classifier = config;  // 2 rows of logits; all of 3² + 2² = 13 pairs
  classifier.mask = AttentionMask::none;
  classifier.classes = 3;
  CHECK(forward_flops(classifier, offsets) ==
        2 * ((240 + 80 + 104) + (180 + 60 + 78) + 2 * 320 + 2 * 4 * 3));
  // Layer 0 alone: columns 4 + 2·2 with one key-value head; 2·4, 4 and none when shared; 2·5·4·4 of
  // averages
  const double rest = 80 + 72 + (180 + 60 + 54) + 2 * 320 + 200;
  const auto with = [&](const auto& change) {
    auto other = config;
    other.set_heads({2, 0}, {2, 3});
    change(other);
    return forward_flops(other, offsets) / 2 - rest + (180 + 60 + 54);
  };
  CHECK(with([](ModelConfig& c) { c.key_value_heads = 1; }) == 5 * 4 * 8);
  CHECK(with([](ModelConfig& c) { c.sharing = Sharing::qk; }) == 5 * 4 * 8);
  CHECK(with([](ModelConfig& c) { c.sharing = Sharing::qkv; }) == 5 * 4 * 4);
  CHECK(with([](ModelConfig& c) { c.sharing = Sharing::identity; }) == 0);
  CHECK(with([](ModelConfig& c) { c.average = true; }) == 240 + 2 * (2 * 5 * 4 * 4));
  auto bare = config;
  bare.feed_forward = std::vector<Index>{8, 0};
  CHECK(forward_flops(bare, offsets) == forward_flops(config, offsets) - 2 * 320);
  config.heads[1].clear();  // removed
  CHECK(forward_flops(config, offsets) == 2 * ((240 + 80 + 72) + 2 * 320 + 200));
}

}  // namespace
}  // namespace headcount
