#include "train/pattern_sums.hpp"

namespace headcount {

template <class Real>
auto PatternSums<Real>::Layer::operator+=(const Layer& other) -> Layer& {
  rows += other.rows;
  entropy += other.entropy;
  saturation += other.saturation;
  return *this;
}

template <class Real>
void PatternSums<Real>::observe(const HeadObservation<Real>& seen) {
  if (treatment_->gate.at(seen.id) == 0 ||
      treatment_->context.at(seen.id) == HeadTreatment<Real>::Context::mean)
    return;
  auto& layer = layers_[static_cast<std::size_t>(seen.id.layer)];
  const Index queries = seen.pattern.rows(), keys = seen.pattern.cols();
  for (Index i = 0; i < queries; ++i) {
    const auto row = kernels<Real>().spread(seen.pattern.row(i).data(),
                                            visible_keys(seen.mask, i, queries, keys));
    layer.entropy += static_cast<double>(row.entropy);
    layer.saturation += static_cast<double>(row.softness);
  }
  layer.rows += static_cast<double>(queries);
}

template class PatternSums<float>;
template class PatternSums<double>;

}  // namespace headcount
