#include "train/adamw.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headcount {

// Pieces of neighbouring numbers that are decayed alike, small enough to be shared out.
template <class Real>
auto AdamW<Real>::runs_of(const ParameterLayout& layout) -> std::vector<Run> {
  constexpr Index kLongest = 1 << 16;
  std::vector<std::pair<Index, bool>> blocks;
  for (const auto& entry : layout.entries())
    blocks.emplace_back(entry.block.offset, is_weight(entry.role));
  std::sort(blocks.begin(), blocks.end());
  const auto alike = [](const auto& a, const auto& b) { return a.second == b.second; };
  blocks.erase(std::unique(blocks.begin(), blocks.end(), alike), blocks.end());
  blocks.emplace_back(layout.size(), false);
  std::vector<Run> runs;
  for (std::size_t i = 0; i + 1 < blocks.size(); ++i)
    for (Index first = blocks[i].first; first < blocks[i + 1].first; first += kLongest)
      runs.push_back({first, std::min(first + kLongest, blocks[i + 1].first), blocks[i].second});
  return runs;
}

template <class Real>
AdamW<Real>::AdamW(const AdamWConfig& config, const ParameterLayout& layout)
    : config_(config),
      runs_(runs_of(layout)),
      moments_{Parameters<Real>(layout), Parameters<Real>(layout)} {}

template <class Real>
void AdamW<Real>::update(Parameters<Real>& parameters, const Parameters<Real>& gradient,
                         double gradient_scale, double learning_rate, std::int64_t step,
                         ThreadTeam& team) {
  const double t = static_cast<double>(step);
  const AdamWStep<Real> plain{static_cast<Real>(config_.beta_1),
                              static_cast<Real>(1 - config_.beta_1),
                              static_cast<Real>(config_.beta_2),
                              static_cast<Real>(1 - config_.beta_2),
                              static_cast<Real>(gradient_scale),
                              static_cast<Real>(learning_rate / (1 - std::pow(config_.beta_1, t))),
                              static_cast<Real>(1 / (1 - std::pow(config_.beta_2, t))),
                              static_cast<Real>(config_.epsilon),
                              1};
  auto decayed = plain;
  decayed.decay = static_cast<Real>(1 - learning_rate * config_.weight_decay);
  Real *first = moments_.first.data(), *second = moments_.second.data();
  Real* values = parameters.data();
  team.run(static_cast<int>(runs_.size()), [&](int piece, int) {
    const Run& run = runs_[static_cast<std::size_t>(piece)];
    kernels<Real>().adamw(run.decayed ? decayed : plain, gradient.data() + run.first,
                          first + run.first, second + run.first, values + run.first,
                          run.end - run.first);
  });
}

template class AdamW<float>;
template class AdamW<double>;

}  // namespace headcount
