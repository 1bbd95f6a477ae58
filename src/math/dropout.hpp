#pragma once

#include <cstdint>

#include "math/matrix.hpp"
#include "math/random.hpp"

namespace headcount {

// Dropout (Srivastava et al. 2014) from a counter: which entries fall is a function of (seed, step,
// place, row, column) alone, so masks are regenerated in the backward pass instead of stored, and
// do not depend on how a batch was cut.
struct Dropout {
  double rate = 0;  // share of entries set to 0; the others are divided by 1 - rate
  std::uint64_t seed = 0;
  std::uint32_t step = 0;

  bool active() const { return rate > 0; }

  // One row: x[0 .. n) times its mask. `place` < 2^24 tells sublayers apart; `row` counts over the
  // whole batch; columns are numbered from first_column, a multiple of 4.
  template <class Real>
  void apply(Real* x, Index n, std::uint32_t place, std::uint32_t row,
             std::uint32_t first_column = 0) const;

  // All rows of x, numbered from first_row.
  template <class Real>
  void apply(MatrixRef<Real> x, std::uint32_t place, Index first_row) const {
    if (!active()) return;
    for (Index i = 0; i < x.rows(); ++i)
      apply<Real>(x.row(i).data(), x.cols(), place, static_cast<std::uint32_t>(first_row + i));
  }
};

}  // namespace headcount
