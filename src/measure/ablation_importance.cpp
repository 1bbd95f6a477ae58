#include "measure/registry.hpp"

namespace headcount {
namespace {

template <class Real>
HeadTerms loss_without_each_head(const MeasureInput<Real>& input) {
  const auto [intact, without] = input.evaluator->ablations(*input.treatment, input.heads);
  HeadTerms terms;
  for (const auto& masked : without) {
    auto& head = terms.emplace_back();
    for (std::size_t x = 0; x < intact.size(); ++x)
      head.push_back({masked[x].nll - intact[x].nll, static_cast<double>(intact[x].targets)});
  }
  return terms;
}

}  // namespace

MeasureEntry ablation_importance() {
  MeasureEntry entry{{"importance.ablation",
                      "nll per target with the head's gate at 0, less that of the intact model",
                      "Michel et al. 2019, section 3.2"},
                     "nats"};
  entry.compute_float = loss_without_each_head<float>;
  entry.compute_double = loss_without_each_head<double>;
  return entry;
}

}  // namespace headcount
