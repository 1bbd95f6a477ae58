#include <rapidcheck.h>

#include "base/error.hpp"
#include "catch.hpp"
#include "model/positions/scores.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

// Layer 0 has heads of width 4, layer 1 of width 6, layer 2 none.
PositionConfig stack(Index longest) {
  auto config = encoded_stack({2, 3, 0}, AttentionMask::none, longest);
  config.head_widths = {4, 6, 5};
  return config;
}

// One vector at position t.
Matrix<double> turned(const PositionEncoding<double>& rotary, const RowVector<double>& v, Index t) {
  Matrix<double> all = v.replicate(t + 1, 1);
  rotary.transform(all);
  return all.row(t);
}

}  // namespace

TEMPLATE_TEST_CASE("rotary positions by hand", "", float, double) {
  Encoded<TestType> rotary("rotary", stack(3));
  CHECK(rotary.layout.count() == 0);
  CHECK(rotary.encoding->acts_on_vectors());
  CHECK_FALSE(rotary.encoding->acts_on_scores());
  // Angles t and t / 100; the pairs are columns 0 and 2, 1 and 3.
  Matrix<TestType> vectors(3, 4);
  vectors << 1, 1, 0, 0, 1, 1, 0, 0, 0, 3, 2, 4;
  rotary.encoding->transform(vectors);
  Matrix<double> expected(3, 4);
  expected << 1, 1, 0, 0,                                                                //
      0.5403023058681398, 0.9999500004166653, 0.8414709848078965, 0.009999833334166664,  //
      -2 * 0.9092974268256817, 3 * 0.9998000066665778 - 4 * 0.01999866669333308,
      -2 * 0.4161468365471424, 3 * 0.01999866669333308 + 4 * 0.9998000066665778;
  CHECK(relative_difference(vectors, expected) < 1e-6);
}

TEST_CASE("rotary scores depend on offsets only") {
  const Encoded<double> rotary("rotary", stack(400));
  REQUIRE(rc::check("offsets", [&] {
    const Index width = *rc::gen::element(4, 6);
    const auto seed = *rc::gen::inRange<std::uint32_t>(1, 1000);
    const RowVector<double> q = random_matrix<double>(1, width, seed);
    const RowVector<double> k = random_matrix<double>(1, width, seed + 1);
    const Index i = *rc::gen::inRange(0, 200), j = *rc::gen::inRange(0, 200);
    const Index shift = *rc::gen::inRange(0, 200);
    const auto score = [&](Index at_query, Index at_key) {
      return turned(*rotary.encoding, q, at_query)
          .cwiseProduct(turned(*rotary.encoding, k, at_key))
          .sum();
    };
    RC_ASSERT(std::abs(score(i + shift, j + shift) - score(i, j)) < 1e-12);
    RC_ASSERT(i == j || std::abs(score(i, j) - q.dot(k)) > 1e-9);  // and on them they do
  }));
}

TEST_CASE("the backward pass of a rotation turns back") {
  const Encoded<double> rotary("rotary", stack(9));
  const Matrix<double> vectors = random_matrix<double>(9, 6, 1);
  Matrix<double> there = vectors;
  rotary.encoding->transform(there);
  CHECK(relative_difference(there.rowwise().norm(), vectors.rowwise().norm()) < 1e-14);
  rotary.encoding->transform_backward(there);
  CHECK(relative_difference(there, vectors) < 1e-14);
}

TEST_CASE("rotary positions need even heads, and positions for a whole sequence") {
  auto odd = stack(9);
  odd.head_widths[1] = 7;
  ParameterLayout layout;
  CHECK_THROWS_WITH(position_encodings().at("rotary").make<float>(odd, layout),
                    ContainsSubstring("layer 1 are 7 wide"));
  const Encoded<float> rotary("rotary", stack(9));
  Matrix<float> vectors = random_matrix<float>(10, 4, 1);
  CHECK_THROWS_WITH(rotary.encoding->transform(vectors), ContainsSubstring("9 positions"));
}
