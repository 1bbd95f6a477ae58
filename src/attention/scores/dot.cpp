#include <cmath>

#include "attention/scores/registry.hpp"

namespace headcount {
namespace {

//   s_ij = c q_i · k_j,   dq_i = c Σ_j ds_ij k_j,   dk_j = c Σ_i ds_ij q_i
template <class Real>
class Dot : public ScoreFunction<Real> {
 public:
  explicit Dot(Real scale) : scale_(scale) {}

  Real scale() const override { return scale_; }

  void scores(const Parameters<Real>&, const ScoreInput<Real>& input, MatrixRef<Real> scores,
              Real* work) const override {
    kernels<Real>().scores(const_rows_of<Real>(input.queries), const_rows_of<Real>(input.keys),
                           scale_, input.visible, rows_of<Real>(scores), work);
  }

  void backward(const Parameters<Real>&, const ScoreInput<Real>& input,
                ConstMatrixRef<Real> d_scores, MatrixRef<Real> d_queries, MatrixRef<Real> d_keys,
                Parameters<Real>*) const override {
    kernels<Real>().mix(const_rows_of<Real>(d_scores), const_rows_of<Real>(input.keys), scale_,
                        input.visible, rows_of<Real>(d_queries));
    kernels<Real>().mix_back(const_rows_of<Real>(d_scores), const_rows_of<Real>(input.queries),
                             scale_, input.visible, rows_of<Real>(d_keys));
  }

 private:
  Real scale_;
};

template <class Real>
std::unique_ptr<ScoreFunction<Real>> make_scaled(const AttentionConfig& config, const std::string&,
                                                 ParameterLayout&) {
  return std::make_unique<Dot<Real>>(1 / std::sqrt(static_cast<Real>(config.head_width)));
}

template <class Real>
std::unique_ptr<ScoreFunction<Real>> make_plain(const AttentionConfig&, const std::string&,
                                                ParameterLayout&) {
  return std::make_unique<Dot<Real>>(Real{1});
}

}  // namespace

ScoreEntry scaled_dot_score() {
  return {{"scaled-dot", "q · k / √K", "Vaswani et al. 2017, section 3.2.1"},
          make_scaled<float>,
          make_scaled<double>};
}

ScoreEntry dot_score() {
  return {{"dot", "q · k, whatever the head width", "Luong et al. 2015, section 3.1"},
          make_plain<float>,
          make_plain<double>};
}

}  // namespace headcount
