#include "math/softmax.hpp"

#include <algorithm>
#include <cmath>

#include "math/reduce.hpp"

namespace headcount {
namespace {

template <class Real>
auto as_array(Real* data, Index n) {
  return Eigen::Map<Eigen::Array<Real, 1, Eigen::Dynamic>>(data, n);
}

template <class Real>
Real largest(const Real* x, Index n) {
  Real best = x[0];
  for (Index i = 1; i < n; ++i) best = std::max(best, x[i]);
  return best;
}

}  // namespace

template <class Real>
Real softmax_in_place(Real* scores, Index n) {
  const Real top = largest(scores, n);
  auto row = as_array(scores, n);
  row = (row - top).exp();
  const Real total = sum(scores, n);
  row *= 1 / total;
  return top + std::log(total);
}

template <class Real>
void softmax_again(Real* scores, Index n, Real log_sum) {
  auto row = as_array(scores, n);
  row = (row - log_sum).exp();
}

template <class Real>
void cross_entropy(MatrixRef<Real> logits, const std::vector<std::int32_t>& targets,
                   const Real* weights, std::vector<RowLoss<Real>>& rows) {
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
    loss.correct = std::max_element(row, row + vocabulary) == row + target;
    loss.nll = softmax_in_place(row, vocabulary) - score;
    if (weights) {
      row[target] -= 1;
      as_array(row, vocabulary) *= weights[i];
    }
  }
}

#define HEADCOUNT_INSTANTIATE(Real)                                                    \
  template Real softmax_in_place<Real>(Real*, Index);                                  \
  template void softmax_again<Real>(Real*, Index, Real);                               \
  template void cross_entropy<Real>(MatrixRef<Real>, const std::vector<std::int32_t>&, \
                                    const Real*, std::vector<RowLoss<Real>>&);
HEADCOUNT_INSTANTIATE(float)
HEADCOUNT_INSTANTIATE(double)
#undef HEADCOUNT_INSTANTIATE

}  // namespace headcount
