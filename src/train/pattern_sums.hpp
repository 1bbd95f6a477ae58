#pragma once

#include <vector>

#include "attention/observer.hpp"
#include "attention/treatment.hpp"

namespace headcount {

// Sums over the rows of patterns in the layers of a stack, for their means. Heads that a mask
// replaces, or whose gate is 0, do not count: nothing depends on their patterns.
template <class Real>
class PatternSums : public HeadObserver<Real> {
 public:
  struct Layer {
    double rows = 0;
    double entropy = 0;     // Σ over rows of -Σ_j p_j ln p_j
    double saturation = 0;  // Σ over rows of Σ_j p_j (1 - p_j)
    Layer& operator+=(const Layer& other);
  };

  // The treatment of the passes that are observed; must outlive this.
  explicit PatternSums(const HeadTreatment<Real>& treatment) : treatment_(&treatment) {}

  void begin(int layers) { layers_.assign(static_cast<std::size_t>(layers), {}); }
  void observe(const HeadObservation<Real>& seen) override;
  const std::vector<Layer>& layers() const { return layers_; }

 private:
  const HeadTreatment<Real>* treatment_;
  std::vector<Layer> layers_;
};

}  // namespace headcount
