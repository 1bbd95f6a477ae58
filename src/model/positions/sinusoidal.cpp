#include <cmath>

#include "model/positions/registry.hpp"

namespace headcount {
namespace {

//   p[t, 2i] = sin(t / 10000^(2i/D)),   p[t, 2i + 1] = cos(t / 10000^(2i/D))
template <class Real>
class Sinusoidal : public PositionEncoding<Real> {
 public:
  explicit Sinusoidal(const PositionConfig& config) : table_(config.longest, config.width) {
    for (Index t = 0; t < config.longest; ++t)
      for (Index i = 0; i < config.width; ++i) {
        const Index even = i - i % 2;
        const double pair = static_cast<double>(even) / static_cast<double>(config.width);
        const double angle = static_cast<double>(t) / std::pow(10000.0, pair);
        table_(t, i) = static_cast<Real>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
      }
  }

  void add_to_embeddings(const Parameters<Real>&, Offsets offsets,
                         MatrixRef<Real> x) const override {
    for (std::size_t b = 0; b + 1 < offsets.size(); ++b) {
      const Index length = offsets[b + 1] - offsets[b];
      require_positions(length, table_.rows());
      x.middleRows(offsets[b], length) += table_.topRows(length);
    }
  }

 private:
  Matrix<Real> table_;  // [longest, D]
};

}  // namespace

PositionEntry sinusoidal_positions() {
  return position_entry<Sinusoidal>(
      {"sinusoidal", "sines and cosines of geometrically spaced wavelengths, added to embeddings",
       "Vaswani et al. 2017, section 3.5"});
}

}  // namespace headcount
