#include "math/cross_entropy.hpp"

#include <cmath>
#include <limits>

#include <rapidcheck.h>

#include "catch.hpp"
#include "support/gradient_check.hpp"
#include "support/matrices.hpp"

using namespace headcount;
using namespace headcount::test;

TEMPLATE_TEST_CASE("softmax worked by hand", "", float, double) {
  std::vector<TestType> x{0, std::log(TestType{2}), std::log(TestType{5})};
  const TestType log_sum = kernels<TestType>().softmax(x.data(), 3);
  CHECK(x[0] == Approx(1.0 / 8));
  CHECK(x[1] == Approx(2.0 / 8));
  CHECK(x[2] == Approx(5.0 / 8));
  CHECK(log_sum == Approx(std::log(8.0)));

  TestType one = -7;
  CHECK(kernels<TestType>().softmax(&one, 1) == TestType{-7});
  CHECK(one == TestType{1});
}

TEMPLATE_TEST_CASE("softmax of large scores stays finite", "", float, double) {
  std::vector<TestType> x{1000, 1001, -1000};
  const TestType log_sum = kernels<TestType>().softmax(x.data(), 3);
  CHECK(x[0] == Approx(1 / (1 + std::exp(1.0))));
  CHECK(x[1] == Approx(1 / (1 + std::exp(-1.0))));
  CHECK(static_cast<double>(x[2]) < 1e-30);
  CHECK(log_sum == Approx(1001 + std::log1p(std::exp(-1.0))));
}

TEST_CASE("softmax is a distribution and does not see shifts") {
  REQUIRE(rc::check([] {
    const auto n = *rc::gen::inRange(1, 70);
    const auto seed = *rc::gen::arbitrary<std::uint32_t>();
    const double shift = *rc::gen::inRange(-50, 50);
    const Matrix<double> scores = random_matrix<double>(1, n, seed, 4);
    Matrix<double> p = scores, shifted = (scores.array() + shift).matrix();
    const double log_sum = kernels<double>().softmax(p.data(), n);
    const double shifted_log_sum = kernels<double>().softmax(shifted.data(), n);
    RC_ASSERT(std::abs(p.sum() - 1) < 1e-13);
    RC_ASSERT(p.minCoeff() > 0);
    RC_ASSERT(relative_difference(shifted, p) < 1e-12);
    RC_ASSERT(std::abs(shifted_log_sum - log_sum - shift) < 1e-12);

    Matrix<float> single = scores.cast<float>();
    kernels<float>().softmax(single.data(), n);
    RC_ASSERT(relative_difference(single, p) < 5e-6);
  }));
}

TEMPLATE_TEST_CASE("a NaN or an infinite score is never hidden", "", float, double) {
  for (const Index n : {1, 3, 8, 21})
    for (Index bad = 0; bad < n; ++bad)
      for (const TestType value : {std::numeric_limits<TestType>::quiet_NaN(),
                                   std::numeric_limits<TestType>::infinity()}) {
        CAPTURE(n, bad, value);
        Matrix<TestType> logits = random_matrix<TestType>(1, n, 5);
        logits(0, bad) = value;
        std::vector<RowLoss<TestType>> rows;
        cross_entropy<TestType>(logits, {0}, nullptr, rows);
        CHECK_FALSE(std::isfinite(rows[0].nll));
      }
}

TEMPLATE_TEST_CASE("cross-entropy worked by hand", "", float, double) {
  Matrix<TestType> logits(4, 2);
  const TestType ln3 = std::log(TestType{3});
  logits << 0, ln3, 0, ln3, 5, 6, 2, 2;
  const Matrix<TestType> kept = logits;
  const std::vector<std::int32_t> targets{1, 0, -1, 1};
  std::vector<RowLoss<TestType>> rows(9);

  const TestType weights[] = {2, 1, 100, 1};
  cross_entropy<TestType>(logits, targets, weights, rows);
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].nll == Approx(std::log(4.0 / 3)));
  CHECK(rows[1].nll == Approx(std::log(4.0)));
  CHECK(rows[2].nll == TestType{0});
  CHECK(rows[3].nll == Approx(std::log(2.0)));
  CHECK(rows[0].correct);
  CHECK_FALSE(rows[1].correct);
  CHECK_FALSE(rows[2].correct);
  CHECK_FALSE(rows[3].correct);  // a tie goes to the first
  Matrix<double> expected(4, 2);
  expected << 2 * 0.25, 2 * -0.25, -0.75, 0.75, 0, 0, 0.5, -0.5;
  CHECK(relative_difference(logits, expected) < 1e-6);

  logits = kept;
  std::vector<RowLoss<TestType>> same;
  cross_entropy<TestType>(logits, targets, nullptr, same);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(same[i].nll == rows[i].nll);
    CHECK(same[i].correct == rows[i].correct);
  }
}

TEST_CASE("the gradient of the cross-entropy") {
  Matrix<double> logits = random_matrix<double>(5, 11, 3, 2);
  const std::vector<std::int32_t> targets{3, 0, -1, 10, 3};
  const Matrix<double> weights = random_matrix<double>(5, 1, 4);
  std::vector<RowLoss<double>> rows;
  const auto loss = [&] {
    Matrix<double> copy = logits;
    cross_entropy<double>(copy, targets, nullptr, rows);
    double total = 0;
    for (Index i = 0; i < 5; ++i) total += weights(i, 0) * rows[static_cast<std::size_t>(i)].nll;
    return total;
  };
  Matrix<double> gradient = logits;
  cross_entropy<double>(gradient, targets, weights.data(), rows);
  CHECK(gradient_error(logits, gradient, loss) == "");
}

TEST_CASE("the cross-entropy in float is that in double, and never negative") {
  const Matrix<double> logits = random_matrix<double>(40, 67, 8, 6);
  std::vector<std::int32_t> targets;
  for (int i = 0; i < 40; ++i) targets.push_back(i);
  std::vector<RowLoss<double>> exact;
  std::vector<RowLoss<float>> fast;
  Matrix<double> wide = logits;
  Matrix<float> narrow = logits.cast<float>();
  narrow(7, 7) = 90;  // certain of its target
  const Matrix<double> ones = Matrix<double>::Ones(40, 1);
  const Matrix<float> ones_float = ones.cast<float>();
  cross_entropy<double>(wide, targets, ones.data(), exact);
  cross_entropy<float>(narrow, targets, ones_float.data(), fast);
  for (std::size_t i = 0; i < 40; ++i) {
    CAPTURE(i);
    CHECK(fast[i].nll >= 0);
    if (i == 7) {
      CHECK(fast[i].nll < 1e-6F);
      CHECK(fast[i].correct);
      continue;
    }
    CHECK(fast[i].nll == Approx(exact[i].nll).epsilon(1e-5).margin(1e-5));
    const auto row = static_cast<Index>(i);
    CHECK(relative_difference(narrow.row(row), wide.row(row)) < 1e-5);
  }
}
