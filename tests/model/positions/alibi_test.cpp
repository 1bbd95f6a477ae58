#include "base/error.hpp"
#include "catch.hpp"
#include "model/positions/scores.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

// Of a layer with so many heads: a head takes its slope from the score of the next token.
std::vector<double> slopes(int heads) {
  Encoded<double> alibi("alibi", encoded_stack({heads}, AttentionMask::causal));
  std::vector<double> slopes;
  for (int head = 0; head < heads; ++head) slopes.push_back(-alibi.added(0, head, 2)(1, 0));
  return slopes;
}

}  // namespace

TEST_CASE("ALiBi has the slopes that are published") {
  CHECK(slopes(1) == std::vector{1.0 / 256});
  CHECK(slopes(8) ==
        std::vector{1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16, 1.0 / 32, 1.0 / 64, 1.0 / 128, 1.0 / 256});
  const auto sixteen = slopes(16);  // the geometric sequence from 2^-½ on
  for (std::size_t i = 0; i < 16; ++i)
    CHECK(sixteen[i] == Approx(std::pow(std::sqrt(0.5), i + 1)).epsilon(1e-15));
  // Of the authors' get_slopes(12): those of 8, then every second of 16.
  const auto twelve = slopes(12);
  for (std::size_t i = 0; i < 8; ++i) CHECK(twelve[i] == slopes(8)[i]);
  for (std::size_t i = 0; i < 4; ++i) CHECK(twelve[8 + i] == Approx(sixteen[2 * i]).epsilon(1e-15));
  CHECK(slopes(3)[2] == 0.25);  // 1/16, 1/256, and the first of 4
}

TEMPLATE_TEST_CASE("ALiBi goes by distance, into the past and, without a mask, into the future", "",
                   float, double) {
  const Index length = 70;
  for (const auto mask : {AttentionMask::causal, AttentionMask::none}) {
    Encoded<TestType> alibi("alibi", encoded_stack({1, 2}, mask, length));
    CHECK(alibi.layout.count() == 0);
    const auto added = alibi.added(1, 0, length);
    for (Index i = 0; i < length; ++i)
      for (Index j = 0; j < length; ++j) {
        const bool seen = mask == AttentionMask::none || j <= i;
        CHECK(added(i, j) == (seen ? -static_cast<TestType>(std::abs(i - j)) / 16 : TestType{77}));
      }
  }
}

TEST_CASE("ALiBi refuses a sequence longer than it was made for") {
  Encoded<float> alibi("alibi", encoded_stack({2}, AttentionMask::causal, 5));
  CHECK_THROWS_WITH(alibi.added(0, 0, 6), ContainsSubstring("5 positions"));
}
