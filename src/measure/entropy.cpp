#include "measure/entropy.hpp"

#include <cmath>

#include "measure/registry.hpp"

namespace headcount {
namespace {

template <class Real>
RatioTerm mean_entropy(const HeadObservation<Real>& seen) {
  RatioTerm term;
  for (Index i = 0; i < seen.pattern.rows(); ++i) {
    term.sum += entropy_of(seen.pattern.row(i).data(), seen.pattern.cols());
    term.weight += 1;
  }
  return term;
}

// H / ln n over the n keys that the row sees; a row with one visible key has no choice and does not
// count.
template <class Real>
RatioTerm mean_normalized_entropy(const HeadObservation<Real>& seen) {
  RatioTerm term;
  const Index queries = seen.pattern.rows(), keys = seen.pattern.cols();
  for (Index i = 0; i < queries; ++i) {
    const Index visible = visible_keys(seen.mask, i, queries, keys);
    if (visible < 2) continue;
    term.sum +=
        entropy_of(seen.pattern.row(i).data(), visible) / std::log(static_cast<double>(visible));
    term.weight += 1;
  }
  return term;
}

}  // namespace

template <class Real>
double entropy_of(const Real* p, Index n) {
  double total = 0;
  for (Index j = 0; j < n; ++j)
    if (p[j] > 0) total -= static_cast<double>(p[j]) * std::log(static_cast<double>(p[j]));
  return total;
}

template double entropy_of<float>(const float*, Index);
template double entropy_of<double>(const double*, Index);

MeasureEntry entropy() {
  return {{"entropy", "mean over query positions of -Σ_j A[i,j] ln A[i,j]", "Clark et al. 2019"},
          "nats",
          mean_entropy<float>,
          mean_entropy<double>};
}

MeasureEntry normalized_entropy() {
  return {{"entropy.normalized",
           "mean over query positions with n_i > 1 visible keys of the row's entropy / ln n_i", ""},
          "1",
          mean_normalized_entropy<float>,
          mean_normalized_entropy<double>};
}

}  // namespace headcount
