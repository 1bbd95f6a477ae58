#include "measure/registry.hpp"

namespace headcount {
namespace {

template <class Real>
RatioTerm mean_largest_weight(const HeadObservation<Real>& seen) {
  RatioTerm term;
  for (Index i = 0; i < seen.pattern.rows(); ++i) {
    term.sum += static_cast<double>(seen.pattern.row(i).maxCoeff());
    term.weight += 1;
  }
  return term;
}

}  // namespace

MeasureEntry confidence() {
  return {
      {"confidence", "mean over query positions of max_j A[i,j]", "Voita et al. 2019, section 4"},
      "1",
      mean_largest_weight<float>,
      mean_largest_weight<double>};
}

}  // namespace headcount
