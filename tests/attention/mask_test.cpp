#include "attention/mask.hpp"

#include "base/error.hpp"
#include "catch.hpp"

using namespace headcount;

TEST_CASE("attention masks have names") {
  CHECK(parse_attention_mask("causal") == AttentionMask::causal);
  CHECK(parse_attention_mask("none") == AttentionMask::none);
  CHECK(name_of(AttentionMask::causal) == "causal");
  CHECK(name_of(AttentionMask::none) == "none");
  CHECK_THROWS_WITH(parse_attention_mask("casual"), ContainsSubstring("causal"));
  CHECK_THROWS_AS(parse_attention_mask(""), Error);
}

TEST_CASE("a causal query sees the keys up to its own position") {
  for (Index i = 0; i < 5; ++i) {
    CHECK(visible_keys(AttentionMask::causal, i, 5, 5) == i + 1);
    CHECK(visible_keys(AttentionMask::none, i, 5, 9) == 9);
    CHECK(visible_keys(AttentionMask::causal, i, 5, 9) == i + 5);  // the last 5 of 9 positions
  }
}
