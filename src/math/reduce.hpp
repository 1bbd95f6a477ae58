#pragma once

#include <array>
#include <cmath>

#include "math/matrix.hpp"

namespace headcount {

// Σ f(i) over 0 .. n-1 in sixteen running sums that are then added in order: the compiler can use
// vector registers and the result does not depend on where the data lies in memory.
template <class Real, class Term>
Real lane_sum(Index n, const Term& term) {
  constexpr Index kLanes = 16;
  std::array<Real, kLanes> lane{};
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (Index j = 0; j < kLanes; ++j) lane[static_cast<std::size_t>(j)] += term(i + j);
  for (Index j = 0; i + j < n; ++j) lane[static_cast<std::size_t>(j)] += term(i + j);
  Real sum = 0;
  for (const Real partial : lane) sum += partial;
  return sum;
}

template <class Real>
Real sum(const Real* x, Index n) {
  return lane_sum<Real>(n, [x](Index i) { return x[i]; });
}

// Σ over two equally shaped matrices of a ∘ b, in double, row by row.
template <class Real>
double inner_product(ConstMatrixRef<Real> a, ConstMatrixRef<Real> b) {
  return kernels<Real>().inner_product(const_rows_of<Real>(a), const_rows_of<Real>(b));
}

// Population variance over all entries, in double.
template <class Real>
double variance(ConstMatrixRef<Real> x) {
  const double n = static_cast<double>(x.size());
  double total = 0, squares = 0;
  for (Index row = 0; row < x.rows(); ++row)
    total += static_cast<double>(sum<Real>(x.row(row).data(), x.cols()));
  const Real mean = static_cast<Real>(total / n);
  for (Index row = 0; row < x.rows(); ++row) {
    const Real* values = x.row(row).data();
    squares += static_cast<double>(
        lane_sum<Real>(x.cols(), [=](Index i) { return (values[i] - mean) * (values[i] - mean); }));
  }
  return squares / n;
}

}  // namespace headcount
