#pragma once

#include <vector>

#include "prune/pruning.hpp"

namespace headcount {

// How many heads are gone at each point: 0, then every `step` (a share of all, 0 < step <= 1), and
// all at the end. Points that would remove the same number are one.
std::vector<int> removals(int heads, double step);

// What happens to a model as its heads go in one order: at each point, per-example statistics with
// the gates of the heads gone at 0.
struct PruningCurve {
  HeadOrder order;
  std::vector<int> removals;
  std::vector<std::vector<ExampleStatistics>> points;  // [point][example]
  std::vector<std::vector<ExampleStatistics>>
      removed;  // the same from the physically smaller model; empty where not built
};

// `reporting` is the split that did not choose the order. `treatment` holds masks already in force.
// `build_at` are shares of the heads; at the nearest point the physically smaller model is built
// too. Masked and removed agree to rounding; a nll per target that differs by more than 1e-4
// (relative) is an internal error.
template <class Real>
PruningCurve pruning_curve(const HeadOrder& order, const std::vector<int>& removals,
                           const std::vector<double>& build_at, const Evaluator<Real>& reporting,
                           const HeadTreatment<Real>& treatment);

}  // namespace headcount
