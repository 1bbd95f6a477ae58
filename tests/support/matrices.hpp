// Matrices for tests: drawn from fixed seeds, compared by one measure.
#pragma once

#include <cstring>
#include <string_view>

#include "math/matrix.hpp"
#include "math/random.hpp"

namespace headcount::test {

// Normal numbers times `scale`. The same seed gives the same numbers in float and in double, up to
// rounding.
template <class Real>
Matrix<Real> random_matrix(Index rows, Index cols, std::uint32_t seed, double scale = 1) {
  RandomStream stream(seed, Purpose::synthetic_data, 0, 0);
  Matrix<Real> matrix(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) matrix(i, j) = static_cast<Real>(scale * stream.normal());
  return matrix;
}

// max|a - b| / max|b|: the measure of the rules. Infinite when the shapes differ, NaN when a number
// is: then no comparison with a bound holds.
template <class A, class B>
double relative_difference(const A& a, const B& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return HUGE_VAL;
  double difference = 0, largest = 0;
  for (Index i = 0; i < b.rows(); ++i)
    for (Index j = 0; j < b.cols(); ++j) {
      const double x = static_cast<double>(a(i, j)), y = static_cast<double>(b(i, j));
      if (!(std::isfinite(x) && std::isfinite(y))) return NAN;
      difference = std::max(difference, std::abs(x - y));
      largest = std::max(largest, std::abs(y));
    }
  return difference == 0 ? 0 : difference / largest;
}

// The same shape and the same bits.
template <class A, class B>
bool same_bits(const A& a, const B& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < a.cols(); ++j) {
      const typename A::Scalar x = a(i, j), y = b(i, j);
      if (std::memcmp(&x, &y, sizeof x) != 0) return false;
    }
  return true;
}

// What equality up to the order of summation means (rule 1).
template <class Real>
constexpr double kRounding = std::is_same_v<Real, float> ? 1e-5 : 1e-12;

}  // namespace headcount::test
