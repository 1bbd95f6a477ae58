#pragma once

#include <cstdint>
#include <vector>

#include "math/matrix.hpp"

namespace headcount {

// Result of one row of cross-entropy.
template <class Real>
struct RowLoss {
  Real nll = 0;          // -ln p(target), nats
  bool correct = false;  // the target has the largest logit (first one on ties)
};

// -ln softmax(logits)[target] per row of logits [N, V]; rows whose target is negative get {0,
// false}. With `weights` [N] (not null) logits are overwritten by the gradient of Σ weights[i] ·
// nll[i]: weights[i] · (softmax(logits[i]) - onehot(target[i])).
template <class Real>
void cross_entropy(MatrixRef<Real> logits, const std::vector<std::int32_t>& targets,
                   const Real* weights, std::vector<RowLoss<Real>>& rows);

}  // namespace headcount
