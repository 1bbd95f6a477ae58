#include "math/cross_entropy.hpp"

#include <algorithm>

namespace headcount {

template <class Real>
void cross_entropy(MatrixRef<Real> logits, const std::vector<std::int32_t>& targets,
                   const Real* weights, std::vector<RowLoss<Real>>& rows) {
  const auto& kernel = kernels<Real>();
  const Index vocabulary = logits.cols();
  rows.assign(targets.size(), {});
  for (Index i = 0; i < logits.rows(); ++i) {
    const std::int32_t target = targets[static_cast<std::size_t>(i)];
    Real* row = logits.row(i).data();
    if (target < 0) {
      if (weights) std::fill(row, row + vocabulary, Real{0});
      continue;
    }
    auto& loss = rows[static_cast<std::size_t>(i)];
    const Real score = row[target];
    loss.correct = kernel.largest(row, vocabulary) == target;
    if (!weights) {
      loss.nll = kernel.log_sum_exp(row, vocabulary) - score;
      continue;
    }
    loss.nll = kernel.softmax(row, vocabulary) - score;
    row[target] -= 1;
    kernel.scale(weights[i], row, vocabulary);
  }
}

#define HEADCOUNT_INSTANTIATE(Real)                                                    \
  template void cross_entropy<Real>(MatrixRef<Real>, const std::vector<std::int32_t>&, \
                                    const Real*, std::vector<RowLoss<Real>>&);
HEADCOUNT_INSTANTIATE(float)
HEADCOUNT_INSTANTIATE(double)
#undef HEADCOUNT_INSTANTIATE

}  // namespace headcount
