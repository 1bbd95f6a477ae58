#pragma once

#include <cstdint>
#include <vector>

#include "math/parameters.hpp"
#include "math/thread_team.hpp"

namespace headcount {

struct AdamWConfig {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  // on matrices and embeddings, not on biases and gains
};

// Adam with decoupled weight decay (Loshchilov & Hutter 2019, algorithm 2):
//   m ← β₁ m + (1 - β₁) g,   v ← β₂ v + (1 - β₂) g²,
//   θ ← θ - η (m̂ / (√v̂ + ε) + λ θ),   m̂ = m / (1 - β₁ᵗ),  v̂ = v / (1 - β₂ᵗ).
template <class Real>
class AdamW {
 public:
  struct Moments {
    Parameters<Real> first, second;
  };

  AdamW(const AdamWConfig& config, const ParameterLayout& layout);

  // One update with the gradient times `gradient_scale` (clipping). Steps count from 1. The team
  // shares the sweep; every number is updated alone, so its size does not matter.
  void update(Parameters<Real>& parameters, const Parameters<Real>& gradient, double gradient_scale,
              double learning_rate, std::int64_t step, ThreadTeam& team);

  // With the parameters and the step, all that the next update depends on.
  Moments& moments() { return moments_; }
  const Moments& moments() const { return moments_; }

 private:
  AdamWConfig config_;
  struct Run {
    Index first, end;  // in the flat parameters
    bool decayed;
  };
  static std::vector<Run> runs_of(const ParameterLayout& layout);
  std::vector<Run> runs_;
  Moments moments_;
};

}  // namespace headcount
