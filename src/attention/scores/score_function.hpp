#pragma once

#include <memory>
#include <string>

#include "attention/config.hpp"
#include "base/registry.hpp"
#include "math/parameters.hpp"

namespace headcount {

// One head of one sequence. What is not visible is not looked at.
template <class Real>
struct ScoreInput {
  Index slot;                     // of the head among those present
  ConstMatrixView<Real> queries;  // [Tq, K]
  ConstMatrixView<Real> keys;     // [Tk, K]
  Visible visible;
};

// How well a key answers a query, before the softmax and before what a position encoding adds.
template <class Real>
class ScoreFunction {
 public:
  virtual ~ScoreFunction() = default;

  // Its own parameters, a row for each head present; without columns: none.
  virtual ParameterBlock parameters() const { return {}; }

  // What a position encoding's products with queries are multiplied by, to stand beside the scores.
  virtual Real scale() const = 0;

  // Sets scores [Tq, Tk] where visible; the rest is undefined. `work` has work_size(Tk, K) numbers.
  virtual void scores(const Parameters<Real>& parameters, const ScoreInput<Real>& input,
                      MatrixRef<Real> scores, Real* work) const = 0;
  // From d_scores, 0 where not visible: sets d_queries and d_keys. Adds to `gradient` unless null.
  virtual void backward(const Parameters<Real>& parameters, const ScoreInput<Real>& input,
                        ConstMatrixRef<Real> d_scores, MatrixRef<Real> d_queries,
                        MatrixRef<Real> d_keys, Parameters<Real>* gradient) const = 0;
};

template <class Real>
using MakeScore = std::unique_ptr<ScoreFunction<Real>> (*)(const AttentionConfig&,
                                                           const std::string& prefix,
                                                           ParameterLayout&);

struct ScoreEntry {
  About about;
  MakeScore<float> make_float;
  MakeScore<double> make_double;
  bool takes_tangents = false;  // one of every column for every score

  template <class Real>
  std::unique_ptr<ScoreFunction<Real>> make(const AttentionConfig& config,
                                            const std::string& prefix,
                                            ParameterLayout& layout) const {
    if constexpr (std::is_same_v<Real, float>)
      return make_float(config, prefix, layout);
    else
      return make_double(config, prefix, layout);
  }
};

const Registry<ScoreEntry>& score_functions();

}  // namespace headcount
