#include <cmath>
#include <map>

#include "model/positions/registry.hpp"

namespace headcount {
namespace {

constexpr double kBase = 10000;

// Queries and keys turn with their positions, pair of columns by pair, so that their product
// depends on the offset alone:
//
//   (v[k], v[k + K/2]) ← (v[k] cos(t θ_k) - v[k + K/2] sin(t θ_k),
//                         v[k] sin(t θ_k) + v[k + K/2] cos(t θ_k)),   θ_k = 10000^(-2k/K).
//
// The paper pairs columns 2k and 2k + 1: the same model with the columns of W_Q and W_K in another
// order.
template <class Real>
class Rotary : public PositionEncoding<Real> {
 public:
  explicit Rotary(const PositionConfig& config) : longest_(config.longest) {
    for (std::size_t layer = 0; layer < config.heads.size(); ++layer)
      if (config.heads[layer] > 0) add_table(config.head_widths[layer], layer);
  }

  bool acts_on_vectors() const override { return true; }
  void transform(MatrixRef<Real> vectors) const override { turn(vectors, 1); }
  void transform_backward(MatrixRef<Real> d_vectors) const override { turn(d_vectors, -1); }

 private:
  struct Table {
    Matrix<Real> cosines, sines;  // [longest, K/2]
  };

  void add_table(Index width, std::size_t layer) {
    if (width % 2 != 0)
      throw Error(ExitCode::bad_data,
                  fmt::format("rotary positions turn pairs of columns, but the heads of layer {} "
                              "are {} wide; choose an even attention.head-width",
                              layer, width));
    auto [entry, is_new] = tables_.try_emplace(width);
    if (!is_new) return;
    auto& [cosines, sines] = entry->second;
    cosines.resize(longest_, width / 2);
    sines.resize(longest_, width / 2);
    for (Index t = 0; t < longest_; ++t)
      for (Index k = 0; k < width / 2; ++k) {
        const double share = 2 * static_cast<double>(k) / static_cast<double>(width);
        const double angle = static_cast<double>(t) * std::pow(kBase, -share);
        cosines(t, k) = static_cast<Real>(std::cos(angle));
        sines(t, k) = static_cast<Real>(std::sin(angle));
      }
  }

  void turn(MatrixRef<Real> vectors, Real direction) const {
    require_positions(vectors.rows(), longest_);
    const auto& [cosines, sines] = tables_.at(vectors.cols());
    kernels<Real>().rotate(const_rows_of<Real>(cosines), const_rows_of<Real>(sines), direction,
                           rows_of<Real>(vectors));
  }

  Index longest_;
  std::map<Index, Table> tables_;  // by K
};

}  // namespace

PositionEntry rotary_positions() {
  return position_entry<Rotary>({"rotary",
                                 "pairs of columns of queries and keys turn with their positions",
                                 "Su et al. 2021"});
}

}  // namespace headcount
