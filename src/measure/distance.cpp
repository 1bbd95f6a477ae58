#include <cstdlib>

#include "measure/registry.hpp"

namespace headcount {
namespace {

template <class Real>
RatioTerm mean_distance(const HeadObservation<Real>& seen) {
  RatioTerm term;
  const Index offset = seen.pattern.cols() - seen.pattern.rows();  // queries are the last positions
  const bool causal = seen.mask == AttentionMask::causal;
  for (Index i = 0; i < seen.pattern.rows(); ++i) {
    const Index position = causal ? i + offset : i;
    for (Index j = 0; j < seen.pattern.cols(); ++j)
      term.sum +=
          static_cast<double>(seen.pattern(i, j)) * static_cast<double>(std::abs(position - j));
    term.weight += 1;
  }
  return term;
}

}  // namespace

MeasureEntry distance() {
  return {{"distance", "mean over query positions of Σ_j A[i,j] |i - j|", "Vig & Belinkov 2019"},
          "tokens",
          mean_distance<float>,
          mean_distance<double>};
}

}  // namespace headcount
