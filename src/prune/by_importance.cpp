#include "prune/by_importance.hpp"

#include <algorithm>
#include <cmath>

#include "prune/registry.hpp"

namespace headcount {
namespace {

template <class Real>
HeadMap<double> gradient_scores(const MeasureInput<Real>& measured) {
  return measure_heads<Real>({"importance.gradient"}, measured).front().value;
}

template <class Real>
HeadOrder once(const OrderInput<Real>& input) {
  const auto measured = MeasureInput<Real>::of(*input.scoring, *input.treatment);
  return ascending(normalized_by_layer(gradient_scores(measured), measured.heads), measured.heads);
}

template <class Real>
std::vector<HeadOrder> by_gradient(const OrderInput<Real>& input) {
  return {once(input)};
}

template <class Real>
std::vector<HeadOrder> by_raw_gradient(const OrderInput<Real>& input) {
  const auto measured = MeasureInput<Real>::of(*input.scoring, *input.treatment);
  return {ascending(gradient_scores(measured), measured.heads)};
}

template <class Real>
std::vector<HeadOrder> by_gradient_reversed(const OrderInput<Real>& input) {
  auto order = once(input);
  std::reverse(order.begin(), order.end());
  return {order};
}

// ΔL is already on one scale: not normalized by layer.
template <class Real>
std::vector<HeadOrder> by_ablation(const OrderInput<Real>& input) {
  const auto measured = MeasureInput<Real>::of(*input.scoring, *input.treatment);
  return {ascending(measure_heads<Real>({"importance.ablation"}, measured).front().value,
                    measured.heads)};
}

// Scored again at every point of the curve with the heads so far gone; the rest alone make up
// scores and norms.
template <class Real>
std::vector<HeadOrder> by_gradient_iteratively(const OrderInput<Real>& input) {
  auto treatment = *input.treatment;
  HeadOrder order;
  for (std::size_t point = 1; point < input.removals.size(); ++point) {
    const auto next = once<Real>({input.scoring, &treatment, 0, 1, {}});
    const int wanted = input.removals[point] - input.removals[point - 1];
    for (int i = 0; i < wanted; ++i) {
      order.push_back(next.at(static_cast<std::size_t>(i)));
      treatment.mask(order.back(), MaskKind::zero);
    }
  }
  return {order};
}

}  // namespace

HeadMap<double> normalized_by_layer(const HeadMap<double>& scores,
                                    const std::vector<HeadId>& alive) {
  HeadMap<double> normalized = scores;
  for (const auto& id : alive) {
    double squares = 0;
    for (const auto& other : alive)
      if (other.site == id.site && other.layer == id.layer)
        squares += std::pow(scores.at(other), 2);
    normalized.at(id) = squares > 0 ? scores.at(id) / std::sqrt(squares) : 0;
  }
  return normalized;
}

HeadOrder ascending(const HeadMap<double>& scores, std::vector<HeadId> heads) {
  std::sort(heads.begin(), heads.end());
  std::stable_sort(heads.begin(), heads.end(),
                   [&](const HeadId& a, const HeadId& b) { return scores.at(a) < scores.at(b); });
  return heads;
}

PruningMethod by_gradient_importance() {
  return {{"importance.gradient",
           "lowest importance.gradient first, scored once, normalized by its layer's l2 norm",
           "Michel et al. 2019, section 3.3"},
          by_gradient<float>,
          by_gradient<double>};
}

PruningMethod by_raw_gradient_importance() {
  return {{"importance.gradient-raw",
           "as importance.gradient, but not normalized: layers may differ as a whole",
           "Michel et al. 2019, equation 2"},
          by_raw_gradient<float>,
          by_raw_gradient<double>};
}

PruningMethod by_gradient_importance_iteratively() {
  return {{"importance.gradient-iterative",
           "as importance.gradient, but scored again at every point with the heads left",
           "Michel et al. 2019, section 4"},
          by_gradient_iteratively<float>,
          by_gradient_iteratively<double>};
}

PruningMethod by_gradient_importance_reversed() {
  return {{"importance.gradient-reverse",
           "highest importance.gradient first: a control that should do worst", ""},
          by_gradient_reversed<float>,
          by_gradient_reversed<double>};
}

PruningMethod by_ablation_importance() {
  return {{"importance.ablation",
           "lowest importance.ablation first: the order of single-head ablations",
           "Michel et al. 2019, section 4.1"},
          by_ablation<float>,
          by_ablation<double>};
}

}  // namespace headcount
