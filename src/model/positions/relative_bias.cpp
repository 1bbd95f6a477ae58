#include <algorithm>
#include <cmath>

#include "model/positions/registry.hpp"

namespace headcount {
namespace {

constexpr int kBuckets = 32;
constexpr int kFarthest = 128;  // from here on all is one bucket

// The bucket of key j as query i sees it, offset j - i. The first half of the buckets holds one
// distance each, the second half ever more, by equal steps of the logarithm up to kFarthest. Where
// the future is visible it has half of the buckets for itself.
int bucket(Index offset, AttentionMask mask) {
  const bool causal = mask == AttentionMask::causal;
  const int buckets = causal ? kBuckets : kBuckets / 2, exact = buckets / 2;
  const int first = !causal && offset > 0 ? buckets : 0;
  const Index distance = causal ? std::max<Index>(-offset, 0) : std::abs(offset);
  if (distance < exact) return first + static_cast<int>(distance);
  const double share = std::log(static_cast<double>(distance) / exact) /
                       std::log(static_cast<double>(kFarthest) / exact);
  // A quotient of logarithms that ought to be whole may come out below.
  constexpr double kSlack = 1e-9;
  const double step = std::floor(share * (buckets - exact) + kSlack);
  return first + exact + static_cast<int>(std::min<double>(step, buckets - exact - 1));
}

//   scores[i, j] += bias[h, bucket(j - i)]
//
// with one table for all layers of the stack.
template <class Real>
class RelativeBias : public PositionEncoding<Real> {
 public:
  RelativeBias(const PositionConfig& config, ParameterLayout& layout) : longest_(config.longest) {
    int most = 0;
    for (const int heads : config.heads) most = std::max(most, heads);
    table_ = layout.add(config.stack + ".relative_bias", ParameterRole::position_embedding, -1,
                        most, kBuckets);
    for (Index offset = 1 - longest_; offset < longest_; ++offset)
      buckets_.push_back(bucket(offset, config.mask));
  }

  bool acts_on_scores() const override { return true; }
  void add_to_scores(const Parameters<Real>& parameters, const HeadSlice<Real>& slice,
                     MatrixRef<Real> scores, Buffer<Real>& work) const override {
    require_positions(std::max(scores.rows(), scores.cols()), longest_);
    const auto bias = parameters.view(table_).row(slice.id.head);
    auto by_offset = work.resize(1, all_offsets());
    for (Index at = first(scores); at <= last(scores); ++at) by_offset(0, at) = bias(bucket_at(at));
    for (Index i = 0; i < scores.rows(); ++i)
      kernels<Real>().add_scaled(1, by_offset.data() + longest_ - 1 - i, scores.row(i).data(),
                                 slice.visible.keys_of(i));
  }
  void scores_backward(const Parameters<Real>&, const HeadSlice<Real>& slice,
                       ConstMatrixRef<Real> d_scores, MatrixRef<Real>, MatrixRef<Real>,
                       Parameters<Real>* gradient, Buffer<Real>& work) const override {
    if (!gradient) return;
    auto by_offset = work.zeros(1, all_offsets());
    for (Index i = 0; i < d_scores.rows(); ++i)
      kernels<Real>().add_scaled(1, d_scores.row(i).data(), by_offset.data() + longest_ - 1 - i,
                                 slice.visible.keys_of(i));
    auto d_bias = gradient->view(table_).row(slice.id.head);
    for (Index at = first(d_scores); at <= last(d_scores); ++at)
      d_bias(bucket_at(at)) += by_offset(0, at);
  }

 private:
  // Offsets count from -(longest - 1).
  Index all_offsets() const { return 2 * longest_ - 1; }
  Index first(ConstMatrixRef<Real> scores) const { return longest_ - scores.rows(); }
  Index last(ConstMatrixRef<Real> scores) const { return longest_ - 2 + scores.cols(); }
  int bucket_at(Index at) const { return buckets_[static_cast<std::size_t>(at)]; }

  Index longest_;
  ParameterBlock table_;      // [most heads of a layer, buckets]
  std::vector<int> buckets_;  // by offset
};

}  // namespace

PositionEntry relative_bias_positions() {
  return position_entry<RelativeBias>(
      {"relative-bias",
       "to a score is added a trained number of the head and of the offset, in 32 buckets up to "
       "128 tokens, shared by layers",
       "Raffel et al. 2020, section 2.1"});
}

}  // namespace headcount
