#include "model/positions/registry.hpp"

namespace headcount {
namespace {

template <class Real>
class Learned : public PositionEncoding<Real> {
 public:
  Learned(const PositionConfig& config, ParameterLayout& layout)
      : table_(layout.add("embedding.position", ParameterRole::position_embedding, -1,
                          config.longest, config.width)) {}

  void add_to_embeddings(const Parameters<Real>& parameters, Offsets offsets,
                         MatrixRef<Real> x) const override {
    for (std::size_t b = 0; b + 1 < offsets.size(); ++b) {
      const Index length = offsets[b + 1] - offsets[b];
      require_positions(length, table_.rows);
      x.middleRows(offsets[b], length) += parameters.view(table_).topRows(length);
    }
  }

  void embeddings_backward(Offsets offsets, ConstMatrixRef<Real> d_x,
                           Parameters<Real>& gradient) const override {
    auto d_table = gradient.view(table_);
    for (std::size_t b = 0; b + 1 < offsets.size(); ++b) {
      const Index length = offsets[b + 1] - offsets[b];
      d_table.topRows(length) += d_x.middleRows(offsets[b], length);
    }
  }

 private:
  ParameterBlock table_;  // [longest, D]
};

}  // namespace

PositionEntry learned_positions() {
  return position_entry<Learned>({"learned", "one trained vector per position, added to embeddings",
                                  "Gehring et al. 2017; Vaswani et al. 2017, table 3 (E)"});
}

}  // namespace headcount
