#pragma once

#include <cstdint>

#include "math/matrix.hpp"
#include "math/random.hpp"

namespace headcount {

// Dropout (Srivastava et al. 2014) from a counter: which entries fall is a function of (seed, step,
// place, row, column) alone, so masks are regenerated in the backward pass instead of stored, and
// do not depend on how a batch was cut.
//
// Column c belongs to block b = c / 32, at r = c % 32 there: its number is word 2 (r / 16) + r % 2
// of the Philox block whose counter is (8 b + r % 16 / 2, row, step, purpose and place); an order
// in which vector registers hold them.
struct Dropout {
  double rate = 0;  // share of entries set to 0; the others are divided by 1 - rate
  std::uint64_t seed = 0;
  std::uint32_t step = 0;

  bool active() const { return rate > 0; }

  // For kernels. `place` < 2^24 tells sublayers apart; rows count over the whole batch; columns are
  // numbered from first_column, a multiple of 32.
  DropoutSource source(std::uint32_t place, Index first_row, std::uint32_t first_column = 0) const;

  // x times its mask, its rows numbered from first_row.
  template <class Real>
  void apply(MatrixRef<Real> x, std::uint32_t place, Index first_row,
             std::uint32_t first_column = 0) const {
    if (active())
      kernels<Real>().drop(source(place, first_row, first_column), const_rows_of<Real>(x),
                           rows_of<Real>(x));
  }
};

}  // namespace headcount
