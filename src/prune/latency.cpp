#include "prune/latency.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "base/interrupt.hpp"
#include "model/flops.hpp"

namespace headcount {
namespace {

// One model with memory of its own for its passes.
template <class Real>
class Timed {
 public:
  Timed(const Model<Real>& model, const Parameters<Real>& parameters,
        const HeadTreatment<Real>& treatment)
      : model_(model), parameters_(parameters) {
    pass_.treatment = &treatment;
    pass_.backward_follows = false;
  }

  double seconds(const PackedSequences& input) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    model_.forward(parameters_, {input.tokens, input.offsets}, pass_, workspace_);
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

 private:
  const Model<Real>& model_;
  const Parameters<Real>& parameters_;
  ModelPass<Real> pass_;
  ModelWorkspace<Real> workspace_;
};

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - std::floor(place));
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return {kMissing, kMissing};
  std::sort(values.begin(), values.end());
  return {quantile(values, 0.5), quantile(values, 0.75) - quantile(values, 0.25)};
}

template <class Real>
std::vector<Latency> measure_latency(const Model<Real>& model, const Parameters<Real>& parameters,
                                     const std::vector<HeadId>& gone,
                                     const HeadTreatment<Real>& treatment,
                                     const std::vector<Example>& examples,
                                     const LatencyOptions& options) {
  const auto smaller = model.without(gone);
  const auto fewer = model.shrink(parameters, smaller);
  Timed<Real> intact(model, parameters, treatment), pruned(smaller, fewer, treatment);
  const auto pass_pair = [&](const PackedSequences& input) {
    const double first = intact.seconds(input);
    return first + pruned.seconds(input);
  };
  std::vector<Latency> found;
  PackedSequences input;
  double pair = 0;  // seconds
  for (const std::int64_t sequences : {1, 16, 64}) {
    if (std::ssize(examples) < sequences) break;
    while (input.count() < sequences)
      input.append(examples[static_cast<std::size_t>(input.count())].input);
    constexpr int kFewest = 3;
    constexpr double kLong = 0.1;
    if (sequences == 64 && 4 * kFewest * pair > options.seconds) break;
    // The first pair takes memory, which matters little where it is long.
    pair = pass_pair(input);
    if (pair < kLong) pair = pass_pair(input);
    const double fit = options.seconds / std::max(pair, 1e-9);
    const int repetitions = std::max(
        kFewest, static_cast<int>(std::min(fit, static_cast<double>(options.repetitions))));
    std::vector<double> of_intact, of_pruned, ratios;
    for (int i = 0; i < repetitions; ++i) {
      throw_if_interrupted();
      of_intact.push_back(intact.seconds(input));
      of_pruned.push_back(pruned.seconds(input));
      ratios.push_back(of_pruned.back() / of_intact.back());
    }
    found.push_back({sequences, repetitions, spread_of(of_intact), spread_of(of_pruned),
                     spread_of(ratios),
                     forward_flops(smaller.config(), input.offsets) /
                         forward_flops(model.config(), input.offsets)});
  }
  return found;
}

template std::vector<Latency> measure_latency(const Model<float>&, const Parameters<float>&,
                                              const std::vector<HeadId>&,
                                              const HeadTreatment<float>&,
                                              const std::vector<Example>&, const LatencyOptions&);
template std::vector<Latency> measure_latency(const Model<double>&, const Parameters<double>&,
                                              const std::vector<HeadId>&,
                                              const HeadTreatment<double>&,
                                              const std::vector<Example>&, const LatencyOptions&);

}  // namespace headcount
