#include "analysis/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <rapidcheck.h>

#include "base/error.hpp"
#include "catch.hpp"

namespace headcount {
namespace {

// Vaswani et al. 2017, table 3 (A), perplexities for 1, 4, 8, 16 and 32 heads.
const std::vector<double> kPerplexities{5.29, 5.00, 4.92, 4.91, 5.01};
const std::vector<double> kOthers{5.10, 5.03, 4.80, 4.95, 4.90};

// Darwin's maize (height of crossed minus self-fertilized plants), the first use of this test:
// Fisher 1935, The Design of Experiments, section 21: 1726 of 32768 assignments.
const std::vector<double> kMaize{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48};

// All 2^n assignments, one after the other.
double sign_flip_by_enumeration(const std::vector<double>& differences) {
  double seen = 0;
  for (const double difference : differences) seen += difference;
  std::uint64_t extreme = 0;
  for (std::uint64_t signs = 0; signs < (std::uint64_t{1} << differences.size()); ++signs) {
    double sum = 0;
    for (std::size_t i = 0; i < differences.size(); ++i)
      sum += (signs >> i & 1) != 0 ? differences[i] : -differences[i];
    extreme += std::abs(sum) >= std::abs(seen) ? 1 : 0;
  }
  return static_cast<double>(extreme) * std::ldexp(1.0, -static_cast<int>(differences.size()));
}

std::vector<double> some_integers(std::size_t least, std::size_t most) {
  const auto n = *rc::gen::inRange(least, most + 1);
  std::vector<double> values;
  for (const int value : *rc::gen::container<std::vector<int>>(n, rc::gen::inRange(-20, 21)))
    values.push_back(value);
  return values;
}

TEST_CASE("mean, deviation and error of hand-worked values") {
  const std::vector<double> values{2, 4, 4, 4, 5, 5, 7, 9};  // squares about the mean: 32
  CHECK(mean(values) == 5);
  CHECK(standard_deviation(values) == Approx(std::sqrt(32.0 / 7)));
  CHECK(standard_error(values) == Approx(std::sqrt(32.0 / 7 / 8)));
}

TEST_CASE("t intervals agree with SciPy 1.10.1") {
  // stats.t.interval(c, len(a) - 1, loc=np.mean(a), scale=stats.sem(a))
  const ConfidenceInterval at95 = t_interval(kPerplexities);
  CHECK(at95.low == Approx(4.8343247183017715).epsilon(1e-12));
  CHECK(at95.high == Approx(5.217675281698226).epsilon(1e-12));
  const ConfidenceInterval at99 = t_interval(kPerplexities, 0.99);
  CHECK(at99.low == Approx(4.708150682615013).epsilon(1e-12));
  CHECK(at99.high == Approx(5.343849317384985).epsilon(1e-12));
  const ConfidenceInterval maize = t_interval(kMaize);
  CHECK(maize.low == Approx(0.03119331840152384).margin(1e-9));
  CHECK(maize.high == Approx(41.83547334826514).epsilon(1e-12));
}

TEST_CASE("too few values are told") {
  const std::vector<double> none, one{3.5};
  CHECK_THROWS_WITH(mean(none), ContainsSubstring("1 values at least, there are 0"));
  CHECK_THROWS_AS(standard_deviation(one), Error);
  CHECK_THROWS_WITH(t_interval(one), ContainsSubstring("2 values at least, there is 1"));
  CHECK_THROWS_AS(t_interval(kPerplexities, 1.0), Error);
  CHECK_THROWS_AS(sign_flip_test(none), Error);
  CHECK_THROWS_AS(sign_flip_test(std::vector<double>(kMostSignFlips + 1, 1.0)), Error);

  const Summary single = summarize(one);
  CHECK(single.n == 1);
  CHECK(single.mean == 3.5);
  CHECK_FALSE(single.standard_deviation);
  CHECK_FALSE(single.standard_error);
  CHECK_FALSE(single.interval);
}

TEST_CASE("the sign-flip test on known cases") {
  CHECK(sign_flip_test(kMaize).p == 1726.0 / 32768);
  CHECK(sign_flip_test(kMaize).floor == 2.0 / 32768);

  // Three seeds that all agree: only +++ and --- are as extreme.
  const SignFlip three = sign_flip_test(std::vector<double>{0.3, 0.1, 0.2});
  CHECK(three.p == 0.25);
  CHECK(three.floor == 0.25);

  CHECK(sign_flip_test(std::vector<double>{-2.5}).p == 1);
  CHECK(sign_flip_test(std::vector<double>{0, 0, 0, 0}).p == 1);
  CHECK(sign_flip_test(std::vector<double>{1, -1}).p == 1);
}

TEST_CASE("sums that are equal on paper count as equal in the sign-flip test") {
  // In tenths many sums tie that floating point tells apart (0.1 + 0.2 - 0.3 is 5.6e-17).
  const std::vector<double> tenths{0.1, 0.2, 0.3, -0.6, 0.7};
  std::vector<double> whole;
  for (const double value : tenths) whole.push_back(std::round(10 * value));
  CHECK(sign_flip_test(tenths).p == sign_flip_by_enumeration(whole));
}

TEST_CASE("the sign-flip test at its largest is still exact") {
  const std::vector<double> agreeing(kMostSignFlips, 0.5);
  CHECK(sign_flip_test(agreeing).p == std::ldexp(2.0, -static_cast<int>(kMostSignFlips)));
}

TEST_CASE("laws of the sign-flip test") {
  REQUIRE(rc::check("it counts what enumeration counts", [] {
    const auto values = some_integers(1, 11);
    RC_ASSERT(sign_flip_test(values).p == sign_flip_by_enumeration(values));
  }));
  REQUIRE(rc::check("it lies between its floor and 1, and forgets sign, order and scale", [] {
    auto values = some_integers(1, 15);
    const SignFlip test = sign_flip_test(values);
    RC_ASSERT(test.floor <= test.p);
    RC_ASSERT(test.p <= 1);
    std::reverse(values.begin(), values.end());
    for (double& value : values) value *= -0.001;
    RC_ASSERT(sign_flip_test(values).p == test.p);
  }));
}

TEST_CASE("paired differences") {
  const auto paired = paired_difference(kPerplexities, kOthers);
  CHECK(paired.difference.n == 5);
  CHECK(paired.difference.mean == Approx(0.07));
  // d = np.subtract(a, b); stats.t.interval(0.95, 4, loc=d.mean(), scale=stats.sem(d))
  REQUIRE(paired.difference.interval);
  CHECK(paired.difference.interval->low == Approx(-0.05509418158739038).epsilon(1e-10));
  CHECK(paired.difference.interval->high == Approx(0.19509418158739023).epsilon(1e-10));
  // stats.permutation_test((d,), np.sum, permutation_type='samples', n_resamples=np.inf).pvalue
  REQUIRE(paired.sign_flip);
  CHECK(paired.sign_flip->p == 0.25);
  CHECK(paired.sign_flip->floor == 2.0 / 32);

  const std::vector<double> many(kMostSignFlips + 1, 1.0), zeros(kMostSignFlips + 1, 0.0);
  CHECK_FALSE(paired_difference(many, zeros).sign_flip);
  CHECK_THROWS_AS(paired_difference(kPerplexities, kMaize), Error);
}

}  // namespace
}  // namespace headcount
