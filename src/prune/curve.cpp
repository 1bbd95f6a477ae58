#include "prune/curve.hpp"

#include <algorithm>
#include <cmath>

namespace headcount {
namespace {

// The model and parameters with these heads physically gone, on the same examples.
template <class Real>
std::vector<ExampleStatistics> run_without(const std::vector<HeadId>& gone,
                                           const Evaluator<Real>& reporting,
                                           const HeadTreatment<Real>& treatment) {
  const auto smaller = reporting.model().without(gone);
  const auto parameters = reporting.model().shrink(reporting.parameters(), smaller);
  return reporting.with(smaller, parameters).run(treatment);
}

void require_equal(const std::vector<ExampleStatistics>& masked,
                   const std::vector<ExampleStatistics>& removed, int gone) {
  const double a = score("nll", total(masked)), b = score("nll", total(removed));
  if (std::abs(a - b) > 1e-4 * std::abs(a))
    throw Error(
        ExitCode::internal,
        fmt::format("with {} heads gone, masking gives nll {} and removing {}", gone, a, b));
}

}  // namespace

std::vector<int> removals(int heads, double step) {
  std::vector<int> counts{0};
  step = std::max(step, 1.0 / std::max(heads, 1));  // a smaller one adds no points
  for (int point = 1;; ++point) {
    const double share = std::min(1.0, point * step + 1e-9);
    const int gone = static_cast<int>(std::floor(share * heads));
    if (gone > counts.back()) counts.push_back(gone);
    if (share >= 1.0) break;
  }
  return counts;
}

template <class Real>
PruningCurve pruning_curve(const HeadOrder& order, const std::vector<int>& removals,
                           const std::vector<double>& build_at, const Evaluator<Real>& reporting,
                           const HeadTreatment<Real>& treatment) {
  const int heads = static_cast<int>(order.size());
  std::vector<bool> build(removals.size(), false);
  for (const double share : build_at) {
    const auto nearest = std::min_element(removals.begin(), removals.end(), [&](int a, int b) {
      return std::abs(a - share * heads) < std::abs(b - share * heads);
    });
    build[static_cast<std::size_t>(nearest - removals.begin())] = true;
  }

  PruningCurve curve{order, removals, {}, {}};
  auto masked = treatment;
  int gone = 0;
  for (std::size_t point = 0; point < removals.size(); ++point) {
    for (; gone < removals[point]; ++gone)
      masked.mask(order[static_cast<std::size_t>(gone)], MaskKind::zero);
    curve.points.push_back(reporting.run(masked));
    curve.removed.emplace_back();
    if (build[point]) {
      curve.removed.back() =
          run_without<Real>({order.begin(), order.begin() + gone}, reporting, treatment);
      require_equal(curve.points.back(), curve.removed.back(), gone);
    }
  }
  return curve;
}

template PruningCurve pruning_curve(const HeadOrder&, const std::vector<int>&,
                                    const std::vector<double>&, const Evaluator<float>&,
                                    const HeadTreatment<float>&);
template PruningCurve pruning_curve(const HeadOrder&, const std::vector<int>&,
                                    const std::vector<double>&, const Evaluator<double>&,
                                    const HeadTreatment<double>&);

}  // namespace headcount
