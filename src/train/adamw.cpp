#include "train/adamw.hpp"

#include <algorithm>
#include <cmath>

namespace headcount {
namespace {

// Neighbouring blocks that are decayed alike, one sweep each.
std::vector<std::pair<Index, bool>> decay_runs(const ParameterLayout& layout) {
  std::vector<std::pair<Index, bool>> starts;
  for (const auto& entry : layout.entries())
    starts.emplace_back(entry.block.offset, is_weight(entry.role));
  std::sort(starts.begin(), starts.end());
  const auto same = [](const auto& a, const auto& b) { return a.second == b.second; };
  starts.erase(std::unique(starts.begin(), starts.end(), same), starts.end());
  return starts;
}

}  // namespace

template <class Real>
AdamW<Real>::AdamW(const AdamWConfig& config, const ParameterLayout& layout)
    : config_(config),
      runs_(decay_runs(layout)),
      moments_{Parameters<Real>(layout), Parameters<Real>(layout)} {}

template <class Real>
void AdamW<Real>::update(Parameters<Real>& parameters, const Parameters<Real>& gradient,
                         double gradient_scale, double learning_rate, std::int64_t step) {
  const double t = static_cast<double>(step);
  AdamWStep<Real> update{static_cast<Real>(config_.beta_1),
                         static_cast<Real>(1 - config_.beta_1),
                         static_cast<Real>(config_.beta_2),
                         static_cast<Real>(1 - config_.beta_2),
                         static_cast<Real>(gradient_scale),
                         static_cast<Real>(learning_rate / (1 - std::pow(config_.beta_1, t))),
                         static_cast<Real>(1 / (1 - std::pow(config_.beta_2, t))),
                         static_cast<Real>(config_.epsilon),
                         1};
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    const auto [first, decayed] = runs_[run];
    const Index end = run + 1 < runs_.size() ? runs_[run + 1].first : parameters.size();
    update.decay = decayed ? static_cast<Real>(1 - learning_rate * config_.weight_decay) : Real{1};
    kernels<Real>().adamw(update, gradient.data() + first, moments_.first.data() + first,
                          moments_.second.data() + first, parameters.data() + first, end - first);
  }
}

template class AdamW<float>;
template class AdamW<double>;

}  // namespace headcount
