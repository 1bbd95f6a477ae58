#pragma once

#include "math/matrix.hpp"

namespace headcount {

// -Σ p ln p over p[0 .. n), in nats, with 0 ln 0 = 0.
template <class Real>
double entropy_of(const Real* p, Index n);

}  // namespace headcount
