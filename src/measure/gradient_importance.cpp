#include <cmath>

#include "measure/registry.hpp"

namespace headcount {
namespace {

template <class Real>
HeadTerms absolute_gate_gradients(const MeasureInput<Real>& input) {
  const auto gradients = input.evaluator->gate_gradients(*input.treatment);
  const auto& counts = input.evaluator->model().heads();
  HeadTerms terms;
  for (const auto& id : input.heads) {
    const Index column = counts.first_index(id.site, id.layer) + id.head;
    auto& head = terms.emplace_back();
    for (Index example = 0; example < gradients.values.rows(); ++example)
      head.push_back({std::abs(gradients.values(example, column)), 1});
  }
  return terms;
}

}  // namespace

// Per example: the absolute value is taken before the mean, so any batching of the same examples
// gives the same number.
MeasureEntry gradient_importance() {
  MeasureEntry entry{{"importance.gradient",
                      "mean over examples x of |∂L(x)/∂ξ_h| at ξ = 1, L the mean nll per target",
                      "Michel et al. 2019, equation 2"},
                     "nats"};
  entry.compute_float = absolute_gate_gradients<float>;
  entry.compute_double = absolute_gate_gradients<double>;
  return entry;
}

}  // namespace headcount
