#include "attention/reference.hpp"

#include <cmath>

#include "catch.hpp"
#include "support/matrices.hpp"

using namespace headcount;
using namespace headcount::test;

// Head width 4, so that scores are halved; weights 1 : 3 and 1 : 1 : 2 by hand.
TEMPLATE_TEST_CASE("plain attention worked by hand", "", float, double) {
  const TestType ln3 = std::log(TestType{3}), ln2 = std::log(TestType{2});
  Matrix<TestType> q(1, 4), k(2, 4), v(2, 2), none;
  q << 1, 0, 0, 5;
  k << 0, 9, 9, 0, 2 * ln3, 7, 7, 0;
  v << 4, 0, 8, 100;
  const auto open = plain_attention<TestType>(q, k, v, none, AttentionMask::none);
  CHECK(relative_difference(open.pattern, (Matrix<double>(1, 2) << 0.25, 0.75).finished()) < 1e-6);
  CHECK(relative_difference(open.context, (Matrix<double>(1, 2) << 7, 75).finished()) < 1e-6);

  Matrix<TestType> q3 = Matrix<TestType>::Zero(3, 4), v3(3, 1);
  Matrix<TestType> added = Matrix<TestType>::Zero(3, 3);
  added(2, 2) = ln2;
  added(0, 2) = 50;  // not visible
  v3 << 8, 16, 32;
  const auto causal = plain_attention<TestType>(q3, q3, v3, added, AttentionMask::causal);
  Matrix<double> pattern(3, 3), context(3, 1);
  pattern << 1, 0, 0, 0.5, 0.5, 0, 0.25, 0.25, 0.5;
  context << 8, 12, 22;
  CHECK(relative_difference(causal.pattern, pattern) < 1e-6);
  CHECK(relative_difference(causal.context, context) < 1e-6);
}

// tanh(½ ln 3) = ½; with v = 2 ln 3 in its column the second key scores ln 3, the third 0.
TEMPLATE_TEST_CASE("plain scores other than scaled ones worked by hand", "", float, double) {
  const TestType ln3 = std::log(TestType{3});
  Matrix<TestType> q(1, 2), k(3, 2), v(3, 1), none;
  q << ln3 / 2, -1;
  k << -ln3 / 2, 7, 0, 7, -ln3 / 2, 3;
  v << 5, 10, 15;
  const auto additive =
      plain_attention<TestType>(q, k, v, none, AttentionMask::none, "additive",
                                (RowVector<TestType>(2) << 2 * ln3, TestType{0}).finished());
  CHECK(relative_difference(additive.pattern, (Matrix<double>(1, 3) << 0.2, 0.6, 0.2).finished()) <
        1e-6);
  CHECK(static_cast<double>(additive.context(0, 0)) == Approx(10));

  q << 1, 2;
  k << ln3, 0, -ln3, ln3, 0, 0;  // not divided by √2: ln 3, ln 3, 0
  const auto dot = plain_attention<TestType>(q, k, v, none, AttentionMask::none, "dot");
  CHECK(relative_difference(dot.pattern, (Matrix<double>(1, 3) << 3, 3, 1).finished() / 7.0) <
        1e-6);
}
