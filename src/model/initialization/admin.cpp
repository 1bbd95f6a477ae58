#include <cmath>
#include <numeric>

#include "model/initialization/registry.hpp"

namespace headcount {
namespace {

// x_i = norm(ω_i ∘ x_{i-1} + f_i(x_{i-1})): ω_i² is the variance of what stands in its stream, f_j
// of the sublayers j < i and x_0, the embeddings. At the first, where nothing was added yet, ω is 1
// as in the authors' code.
double stream_scale(std::span<const double> variances) {
  if (variances.size() == 1) return 1;
  return std::sqrt(std::accumulate(variances.begin(), variances.end(), 0.0));
}

}  // namespace

InitializationEntry admin_initialization() {
  InitializationEntry entry{
      {"admin",
       "as xavier-uniform, but ω_1 = 1, ω_i² = Var x_0 + Σ_{j<i} Var f_j of the embeddings x_0 and "
       "the sublayers' f_j, over training data before the first step with ω = 1; for model.norm = "
       "post, model.residual = scaled-stream",
       "Liu et al. 2020, Understanding the difficulty of training Transformers"},
      xavier_uniform_distribution};
  entry.residual = Residual::scaled_stream;
  entry.norm = NormPlacement::post;
  entry.stream_scale = stream_scale;
  return entry;
}

}  // namespace headcount
