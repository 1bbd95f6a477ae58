#pragma once

#include "attention/mask.hpp"
#include "attention/sites.hpp"
#include "math/matrix.hpp"

namespace headcount {

// What one head did with one sequence, before its gate and without dropout on its pattern. Valid
// only during the call.
template <class Real>
struct HeadObservation {
  HeadId id;
  Index sequence = 0;             // within the batch
  AttentionMask mask{};           // which keys each query sees
  ConstMatrixView<Real> pattern;  // [query_pos, key_pos], rows sum to 1
  ConstMatrixView<Real> context;  // [query_pos, K] = pattern · values, and what positions add
};

// Told of every present head and sequence of a forward pass. Calls for different sequences may come
// from different threads at once; calls for one sequence come from one thread.
template <class Real>
class HeadObserver {
 public:
  virtual ~HeadObserver() = default;
  virtual void observe(const HeadObservation<Real>& observation) = 0;
};

}  // namespace headcount
