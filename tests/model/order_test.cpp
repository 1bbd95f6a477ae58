// What a model can know of the order of its input (Irie 2025): the logits at the last token, after
// the tokens before it change places.
#include <algorithm>
#include <numeric>

#include <rapidcheck.h>

#include "catch.hpp"
#include "math/random.hpp"
#include "model/small.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

constexpr std::size_t kLength = 8;

ModelConfig without_positions(int layers, bool causal) {
  auto config = small_config(std::vector<int>(static_cast<std::size_t>(layers), 3));
  config.positions = "none";
  return causal ? config : bidirectional(config);
}

template <class Real>
Matrix<Real> last_logits(SmallModel<Real>& small, const std::vector<std::int32_t>& tokens) {
  small.batch.tokens = tokens;
  small.batch.offsets = {0, static_cast<std::int64_t>(tokens.size())};
  return small.logits().bottomRows(1);
}

// How much the last token's logits change when the others are permuted, against their size.
template <class Real>
double change(const ModelConfig& config, std::uint32_t seed) {
  SmallModel<Real> small(config);
  RandomStream random(seed, Purpose::synthetic_data, 0, 0);
  std::vector<std::int32_t> tokens(kLength);
  for (auto& token : tokens)
    token = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(config.vocabulary)));
  tokens[0] = 0, tokens[1] = 1;  // so that there is an order to lose
  auto permuted = tokens;
  std::rotate(permuted.begin(), permuted.begin() + 1 + random.below(kLength - 2),
              permuted.end() - 1);
  return relative_difference(last_logits(small, permuted), last_logits(small, tokens));
}

}  // namespace

TEST_CASE("one causal layer without positions cannot tell the order of what it sees") {
  REQUIRE(rc::check("by more than rounding", [](std::uint32_t seed) {
    RC_ASSERT(change<double>(without_positions(1, true), seed) < 1e-13);
    RC_ASSERT(change<float>(without_positions(1, true), seed) < 1e-5);
  }));
}

TEST_CASE("two causal layers without positions can") {
  for (const auto seed : {1U, 2U, 3U})
    CHECK(change<double>(without_positions(2, true), seed) > 1e-3);
}

TEST_CASE("a stack that sees both sides cannot without positions, at any depth") {
  for (const int layers : {1, 2, 4})
    for (const auto seed : {1U, 2U, 3U}) {
      CAPTURE(layers, seed);
      CHECK(change<double>(without_positions(layers, false), seed) < 1e-12);
      CHECK(change<float>(without_positions(layers, false), seed) < 1e-5);
    }
}

TEST_CASE("with positions of any kind one layer can, with and without a mask") {
  for (const auto& positions : position_encodings().names())
    for (const bool causal : {true, false}) {
      if (positions == "none") continue;
      auto config = without_positions(1, causal);
      config.positions = positions;
      CAPTURE(positions, causal);
      CHECK(change<double>(config, 1) > 1e-3);
    }
}
