#include <cmath>

#include "attention/scores/registry.hpp"

namespace headcount {
namespace {

//   s_ij = v · tanh(q_i + k_j), with v [K] of each head
template <class Real>
class Additive : public ScoreFunction<Real> {
 public:
  Additive(const AttentionConfig& config, const std::string& prefix, ParameterLayout& layout)
      : weights_(layout.add(prefix + ".score", ParameterRole::score, config.layer,
                            static_cast<Index>(config.heads.size()), config.head_width)),
        scale_(1 / std::sqrt(static_cast<Real>(config.head_width))) {}

  ParameterBlock parameters() const override { return weights_; }

  Real scale() const override { return scale_; }  // as of scaled dot products

  void scores(const Parameters<Real>& parameters, const ScoreInput<Real>& input,
              MatrixRef<Real> scores, Real* work) const override {
    kernels<Real>().additive_scores(const_rows_of<Real>(input.queries),
                                    const_rows_of<Real>(input.keys),
                                    parameters.view(weights_).row(input.slot).data(), input.visible,
                                    rows_of<Real>(scores), work);
  }

  void backward(const Parameters<Real>& parameters, const ScoreInput<Real>& input,
                ConstMatrixRef<Real> d_scores, MatrixRef<Real> d_queries, MatrixRef<Real> d_keys,
                Parameters<Real>* gradient) const override {
    kernels<Real>().additive_back(
        const_rows_of<Real>(input.queries), const_rows_of<Real>(input.keys),
        parameters.view(weights_).row(input.slot).data(), const_rows_of<Real>(d_scores),
        input.visible, rows_of<Real>(d_queries), rows_of<Real>(d_keys),
        gradient ? gradient->view(weights_).row(input.slot).data() : nullptr);
  }

 private:
  ParameterBlock weights_;
  Real scale_;
};

template <class Real>
std::unique_ptr<ScoreFunction<Real>> make(const AttentionConfig& config, const std::string& prefix,
                                          ParameterLayout& layout) {
  return std::make_unique<Additive<Real>>(config, prefix, layout);
}

}  // namespace

ScoreEntry additive_score() {
  return {{"additive", "v · tanh(q + k), v learned for each head",
           "Bahdanau et al. 2015, appendix A.1.2"},
          make<float>,
          make<double>,
          true};
}

}  // namespace headcount
