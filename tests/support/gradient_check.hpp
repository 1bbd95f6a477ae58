// The one gradient check of the house.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "math/matrix.hpp"

namespace headcount::test {

// Compares `analytic` with the central differences (f(x + h) - f(x - h)) / 2h of `loss`, a function
// of no argument that reads x, entry by entry; x is put back. An entry is right when
//
//   |analytic - numeric| ≤ tolerance · max(|analytic|, |numeric|, largest / 100, 1e-3)
//
// with the largest |analytic| of the matrix: what is small by cancellation is measured against its
// neighbours, and losses and gradients are taken to be of size 1, where the differences themselves
// are wrong by some 1e-10 (h² = 1e-10, and rounding: 1e-16 · loss / h). Returns "" or a line about
// the first wrong entry.
template <class Loss>
std::string gradient_error(MatrixRef<double> x, ConstMatrixRef<double> analytic, const Loss& loss,
                           double tolerance = 1e-6) {
  constexpr double kStep = 1e-5;
  if (x.rows() != analytic.rows() || x.cols() != analytic.cols())
    return fmt::format("the gradient is {} × {}, but x is {} × {}", analytic.rows(),
                       analytic.cols(), x.rows(), x.cols());
  const double floor = analytic.size() ? 0.01 * analytic.cwiseAbs().maxCoeff() : 0;
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) {
      const double kept = x(i, j);
      x(i, j) = kept + kStep;
      const double above = loss();
      x(i, j) = kept - kStep;
      const double below = loss();
      x(i, j) = kept;
      const double numeric = (above - below) / (2 * kStep), a = analytic(i, j);
      const double size = std::max({std::abs(a), std::abs(numeric), floor, 1e-3});
      if (!(std::abs(a - numeric) <= tolerance * size))
        return fmt::format("entry ({}, {}): the gradient says {:.9g}, central differences {:.9g}",
                           i, j, a, numeric);
    }
  return "";
}

}  // namespace headcount::test
