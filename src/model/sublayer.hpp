#pragma once

#include <string>
#include <string_view>

#include "math/dropout.hpp"
#include "math/layer_norm.hpp"
#include "math/parameters.hpp"

namespace headcount {

// Where a sublayer's layer norm stands (Xiong et al. 2020):
//   pre   x ← x + dropout(f(norm(x)))
//   post  x ← norm(x + dropout(f(x)))
enum class NormPlacement { pre, post };
std::string_view name_of(NormPlacement placement);
NormPlacement parse_norm_placement(std::string_view text);  // throws Error (bad_data)

// A layer norm with its parameters.
template <class Real>
class LayerNorm {
 public:
  struct Cache {
    Buffer<Real> normalized;         // [N, D]
    Buffer<Real> inverse_deviation;  // [N, 1]
  };

  // Adds PREFIX.gain and PREFIX.bias [1, D].
  LayerNorm(Index width, int layer, const std::string& prefix, ParameterLayout& layout)
      : gain_(layout.add(prefix + ".gain", ParameterRole::norm_gain, layer, 1, width)),
        bias_(layout.add(prefix + ".bias", ParameterRole::bias, layer, 1, width)) {}

  // y may be x.
  void forward(const Parameters<Real>& parameters, ConstMatrixRef<Real> x, Cache& cache,
               MatrixRef<Real> y) const {
    layer_norm<Real>(x, parameters.view(gain_), parameters.view(bias_),
                     cache.normalized.resize(x.rows(), x.cols()),
                     cache.inverse_deviation.resize(x.rows(), 1), y);
  }

  // d_x += …; adds to `gradient` unless null.
  void backward(const Parameters<Real>& parameters, const Cache& cache, ConstMatrixRef<Real> d_y,
                MatrixRef<Real> d_x, Parameters<Real>* gradient) const {
    if (!gradient) {
      layer_norm_backward<Real>(d_y, parameters.view(gain_), cache.normalized.view(),
                                cache.inverse_deviation.view(), d_x, nullptr, nullptr);
      return;
    }
    MatrixRef<Real> d_gain = gradient->view(gain_), d_bias = gradient->view(bias_);
    layer_norm_backward<Real>(d_y, parameters.view(gain_), cache.normalized.view(),
                              cache.inverse_deviation.view(), d_x, &d_gain, &d_bias);
  }

 private:
  ParameterBlock gain_, bias_;
};

// Residual connection, norm and dropout around any sublayer f.
template <class Real>
class ResidualSublayer {
 public:
  struct Cache {
    typename LayerNorm<Real>::Cache norm;
    Buffer<Real> input;  // [N, D] what f was given
  };
  struct Scratch {
    Buffer<Real> output, d_input;  // [N, D]
  };

  ResidualSublayer(NormPlacement placement, Index width, int layer, const std::string& norm_prefix,
                   std::uint32_t dropout_place, ParameterLayout& layout)
      : placement_(placement),
        norm_(width, layer, norm_prefix, layout),
        dropout_place_(dropout_place) {}

  // stream [N, D] in place. f(input, output) fills output.
  template <class Forward>
  void forward(const Parameters<Real>& parameters, const Dropout& dropout, Index first_row,
               Cache& cache, Scratch& scratch, MatrixRef<Real> stream, const Forward& f) const {
    auto input = cache.input.resize(stream.rows(), stream.cols());
    auto output = scratch.output.resize(stream.rows(), stream.cols());
    if (placement_ == NormPlacement::pre)
      norm_.forward(parameters, stream, cache.norm, input);
    else
      input = stream;
    f(read_only<Real>(input), output);
    add(parameters, dropout, first_row, cache, output, stream);
  }

  // What forward() does after f: dropout and the residual sum, the norm where it follows.
  void add(const Parameters<Real>& parameters, const Dropout& dropout, Index first_row,
           Cache& cache, MatrixRef<Real> output, MatrixRef<Real> stream) const {
    kernels<Real>().add_dropped(dropout.source(dropout_place_, first_row),
                                const_rows_of<Real>(output), rows_of<Real>(stream));
    if (placement_ == NormPlacement::post) norm_.forward(parameters, stream, cache.norm, stream);
  }

  // d_stream [N, D] in place: from the gradient after the sublayer to the one before it. f(input,
  // d_output, d_input) sets d_input from d_output. Without `gradient` and `input_gradient` it ends
  // after f.
  template <class Backward>
  void backward(const Parameters<Real>& parameters, const Dropout& dropout, Index first_row,
                const Cache& cache, Scratch& scratch, MatrixRef<Real> d_stream,
                Parameters<Real>* gradient, bool input_gradient, const Backward& f) const {
    auto d_output = scratch.output.resize(d_stream.rows(), d_stream.cols());
    auto d_input = scratch.d_input.resize(d_stream.rows(), d_stream.cols());
    if (placement_ == NormPlacement::post) {
      d_input.setZero();
      norm_.backward(parameters, cache.norm, d_stream, d_input, gradient);
      d_stream = d_input;
    }
    kernels<Real>().drop(dropout.source(dropout_place_, first_row), const_rows_of<Real>(d_stream),
                         rows_of<Real>(d_output));
    f(cache.input.view(), d_output, d_input);
    if (!gradient && !input_gradient) return;
    if (placement_ == NormPlacement::pre)
      norm_.backward(parameters, cache.norm, d_input, d_stream, gradient);
    else
      d_stream += d_input;
  }

 private:
  NormPlacement placement_;
  LayerNorm<Real> norm_;
  std::uint32_t dropout_place_;
};

}  // namespace headcount
