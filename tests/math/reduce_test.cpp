#include "math/reduce.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "catch.hpp"
#include "support/matrices.hpp"

using namespace headcount;
using namespace headcount::test;

TEMPLATE_TEST_CASE("sums and inner products of every length", "", float, double) {
  for (Index n = 0; n < 70; ++n) {
    CAPTURE(n);
    std::vector<TestType> x;
    Matrix<TestType> left(1, n), right(1, n);
    for (Index i = 0; i < n; ++i) {
      x.push_back(static_cast<TestType>(i + 1));
      left(0, i) = x.back();
      right(0, i) = static_cast<TestType>(i % 3);
    }
    double expected = 0;  // small integers: exact in float
    for (Index i = 0; i < n; ++i) expected += static_cast<double>((i + 1) * (i % 3));
    CHECK(sum(x.data(), n) == static_cast<TestType>(n * (n + 1) / 2));
    CHECK(inner_product<TestType>(left, right) == expected);
  }
}

TEMPLATE_TEST_CASE("a sum has the same bits wherever it lies in memory", "", float, double) {
  const Matrix<TestType> x = random_matrix<TestType>(1, 101, 4, 1e3);
  const TestType expected = sum(x.data(), 101);
  for (std::size_t shift = 0; shift < 9; ++shift) {
    std::vector<TestType> moved(shift + 101);
    std::copy(x.data(), x.data() + 101, moved.data() + shift);
    const TestType again = sum(moved.data() + shift, 101);
    CHECK(std::memcmp(&again, &expected, sizeof again) == 0);
  }
}

TEMPLATE_TEST_CASE("inner products and variances of strided views", "", float, double) {
  const Matrix<TestType> all = random_matrix<TestType>(6, 40, 1),
                         other = random_matrix<TestType>(4, 37, 2);
  const auto block = all.block(1, 2, 4, 37);
  const Matrix<double> a = block.template cast<double>(), b = other.template cast<double>();
  CHECK(inner_product<TestType>(block, other) == Approx(a.cwiseProduct(b).sum()).epsilon(1e-5));
  const double mean = a.mean();
  CHECK(variance<TestType>(block) == Approx((a.array() - mean).square().mean()).epsilon(1e-5));
  // No cancellation when the mean is large.
  const Matrix<TestType> far = (other.array() + 1000).matrix();
  CHECK(variance<TestType>(far) == Approx((b.array() - b.mean()).square().mean()).epsilon(1e-4));
  CHECK(variance<TestType>(Matrix<TestType>::Constant(3, 5, 7)) == 0);
}
