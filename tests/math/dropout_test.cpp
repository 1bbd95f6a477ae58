#include "math/dropout.hpp"

#include "catch.hpp"
#include "support/matrices.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

template <class Real>
Matrix<Real> mask(const Dropout& dropout, Index rows, Index cols, std::uint32_t place,
                  Index first_row = 0) {
  Matrix<Real> x = Matrix<Real>::Ones(rows, cols);
  dropout.apply<Real>(x, place, first_row);
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("dropout drops its share and scales the rest", "", float, double) {
  for (const double rate : {0.1, 0.5, 0.9}) {
    CAPTURE(rate);
    const Matrix<TestType> x = mask<TestType>({rate, 7, 3}, 400, 250, 5);
    const TestType kept = static_cast<TestType>(1 / (1 - rate));
    const auto dropped = static_cast<double>((x.array() == TestType{0}).count());
    CHECK((x.array() == TestType{0} || x.array() == kept).all());
    const double n = 400 * 250, deviation = std::sqrt(rate * (1 - rate) / n);
    CHECK(std::abs(dropped / n - rate) < 4 * deviation);
    // So the expectation of every entry is what it was.
    CHECK(std::abs(x.template cast<double>().mean() - 1) < 4 * deviation / (1 - rate));
  }
}

TEST_CASE("dropout of rate 0 does nothing") {
  CHECK_FALSE(Dropout{}.active());
  const Matrix<double> x = mask<double>({0, 7, 3}, 4, 9, 5);
  CHECK(x == Matrix<double>::Ones(4, 9));
}

TEST_CASE("a dropout mask is a function of seed, step, place, row and column alone") {
  const Dropout dropout{0.4, 0x123456789abcdefULL, 12};
  const Matrix<double> all = mask<double>(dropout, 20, 37, 9);
  CHECK(same_bits(mask<double>(dropout, 20, 37, 9), all));
  CHECK(mask<float>(dropout, 20, 37, 9).cast<bool>() == all.cast<bool>());

  // However a batch is cut into rows, and a row into pieces.
  CHECK(same_bits(mask<double>(dropout, 13, 37, 9, 7), all.bottomRows(13)));
  CHECK(same_bits(mask<double>(dropout, 20, 10, 9), all.leftCols(10)));
  Matrix<double> end = Matrix<double>::Ones(20, 5);
  dropout.apply<double>(end, 9, 0, 32);
  CHECK(same_bits(end, all.rightCols(5)));

  // And each of them matters.
  const auto same = [&](const Matrix<double>& other) { return same_bits(other, all); };
  CHECK_FALSE(same(mask<double>({0.4, 0x123456789abcdeeULL, 12}, 20, 37, 9)));
  CHECK_FALSE(same(mask<double>({0.4, 0x023456789abcdefULL, 12}, 20, 37, 9)));
  CHECK_FALSE(same(mask<double>({0.4, 0x123456789abcdefULL, 13}, 20, 37, 9)));
  CHECK_FALSE(same(mask<double>(dropout, 20, 37, 10)));
  CHECK_FALSE(same(mask<double>(dropout, 20, 37, 9 | 1U << 23)));
  CHECK_FALSE(same_bits(all.row(0), all.row(1)));
  CHECK_FALSE(same_bits(all.leftCols(4), all.middleCols(4, 4)));
}

TEST_CASE("dropout keeps to the rows of a view") {
  Matrix<float> x = Matrix<float>::Ones(6, 12);
  Dropout{0.5, 1, 1}.apply<float>(x.block(1, 2, 4, 7), 3, 0);
  CHECK(same_bits(x.block(1, 2, 4, 7), mask<float>({0.5, 1, 1}, 4, 7, 3)));
  CHECK(x.row(0) == Matrix<float>::Ones(1, 12));
  CHECK(x.row(5) == Matrix<float>::Ones(1, 12));
  CHECK(x.leftCols(2) == Matrix<float>::Ones(6, 2));
  CHECK(x.rightCols(3) == Matrix<float>::Ones(6, 3));
}
