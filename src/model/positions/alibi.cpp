#include <algorithm>
#include <cmath>

#include "model/positions/registry.hpp"

namespace headcount {
namespace {

// The slope of head h (from 0) of H. With P the largest power of two that is at most H: the first P
// heads have the slopes 2^(-8(h + 1)/P), the others every second one of those of 2P heads.
double slope(int head, int heads) {
  int power = 1;
  while (2 * power <= heads) power *= 2;
  const double step = 8.0 / power;
  return std::exp2(head < power ? -step * (head + 1) : -step * (head - power + 0.5));
}

//   scores[i, j] -= m_h |i - j|
//
// which is the paper's where a mask hides the future, and symmetric where none does.
template <class Real>
class Alibi : public PositionEncoding<Real> {
 public:
  explicit Alibi(const PositionConfig& config)
      : longest_(config.longest), nearness_(2 * config.longest - 1) {
    for (Index i = 0; i < nearness_.size(); ++i)
      nearness_(i) = -static_cast<Real>(std::abs(i - (longest_ - 1)));
    for (const int heads : config.heads) {
      auto& layer = slopes_.emplace_back();
      for (int head = 0; head < heads; ++head)
        layer.push_back(static_cast<Real>(slope(head, heads)));
    }
  }

  bool acts_on_scores() const override { return true; }
  void add_to_scores(const Parameters<Real>&, const HeadSlice<Real>& slice, MatrixRef<Real> scores,
                     Buffer<Real>&) const override {
    require_positions(std::max(scores.rows(), scores.cols()), longest_);
    const Real steepness =
        slopes_[static_cast<std::size_t>(slice.id.layer)][static_cast<std::size_t>(slice.id.head)];
    for (Index i = 0; i < scores.rows(); ++i)
      kernels<Real>().add_scaled(steepness, nearness_.data() + longest_ - 1 - i,
                                 scores.row(i).data(), slice.visible.keys_of(i));
  }

 private:
  Index longest_;
  RowVector<Real> nearness_;               // -|d| for offsets d from -(longest - 1) on
  std::vector<std::vector<Real>> slopes_;  // [layer][head]
};

}  // namespace

PositionEntry alibi_positions() {
  return position_entry<Alibi>(
      {"alibi", "from a score is taken the distance of its tokens times the head's fixed slope",
       "Press et al. 2022"});
}

}  // namespace headcount
