#pragma once

#include <memory>
#include <string>

#include "attention/hooks.hpp"
#include "attention/multi_head.hpp"
#include "base/registry.hpp"
#include "math/parameters.hpp"

namespace headcount {

struct PositionConfig {
  Index width = 0;    // D
  Index longest = 0;  // positions are 0 .. longest - 1
};

// How a model learns where a token stands: on embeddings, on queries and keys, or on scores (the
// latter two through AttentionHooks). Positions count from 0 in every sequence.
template <class Real>
class PositionEncoding : public AttentionHooks<Real> {
 public:
  // x [N, D] += what the encoding says of each token's position. Throws when a sequence is longer
  // than it can say.
  virtual void add_to_embeddings(const Parameters<Real>& parameters, Offsets offsets,
                                 MatrixRef<Real> x) const {
    static_cast<void>(parameters), static_cast<void>(offsets), static_cast<void>(x);
  }
  // Adds to `gradient` from d_x [N, D].
  virtual void embeddings_backward(Offsets offsets, ConstMatrixRef<Real> d_x,
                                   Parameters<Real>& gradient) const {
    static_cast<void>(offsets), static_cast<void>(d_x), static_cast<void>(gradient);
  }
};

template <class Real>
using MakePosition = std::unique_ptr<PositionEncoding<Real>> (*)(const PositionConfig&,
                                                                 ParameterLayout&);

struct PositionEntry {
  About about;
  MakePosition<float> make_float;
  MakePosition<double> make_double;

  template <class Real>
  std::unique_ptr<PositionEncoding<Real>> make(const PositionConfig& config,
                                               ParameterLayout& layout) const {
    if constexpr (std::is_same_v<Real, float>)
      return make_float(config, layout);
    else
      return make_double(config, layout);
  }
};

const Registry<PositionEntry>& position_encodings();

}  // namespace headcount
