#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "attention/hooks.hpp"
#include "attention/multi_head.hpp"
#include "base/registry.hpp"
#include "math/parameters.hpp"

namespace headcount {

// The stack of layers that positions are encoded for.
struct PositionConfig {
  Index width = 0;                // D
  Index longest = 0;              // positions are 0 .. longest - 1
  std::string stack = "decoder";  // what the names of its parameters start with
  AttentionMask mask = AttentionMask::causal;
  std::vector<int> heads = {};          // per layer, as built
  std::vector<Index> head_widths = {};  // K, per layer
  Index relative_distance = 16;         // from here on, relative positions are not told apart
};

// How a model learns where a token stands: on embeddings, or inside attention through
// AttentionHooks. Positions count from 0 in every sequence. A head is known by its original index,
// so removing others changes nothing for it.
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

  // How many vectors [K] beside the keys each query of a sequence is multiplied with, and beside
  // the values each row of its pattern; for estimates of cost.
  virtual Index rows_beside(Index length) const { return static_cast<void>(length), 0; }
};

// Throws Error (internal) for a sequence longer than an encoding was made for.
inline void require_positions(Index length, Index longest) {
  if (length > longest)
    throw Error(ExitCode::internal,
                fmt::format("a sequence of {} tokens, but {} positions", length, longest));
}

// Adds its parameters to the layout; throws Error (bad_data) for a stack it cannot serve.
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

template <template <class> class Encoding, class Real>
std::unique_ptr<PositionEncoding<Real>> make_position(const PositionConfig& config,
                                                      ParameterLayout& layout) {
  if constexpr (std::is_constructible_v<Encoding<Real>, const PositionConfig&, ParameterLayout&>)
    return std::make_unique<Encoding<Real>>(config, layout);
  else
    return std::make_unique<Encoding<Real>>(config);
}

// The entry of an encoding that is made of the config, and of the layout where it has parameters.
template <template <class> class Encoding>
PositionEntry position_entry(About about) {
  return {std::move(about), make_position<Encoding, float>, make_position<Encoding, double>};
}

const Registry<PositionEntry>& position_encodings();

}  // namespace headcount
