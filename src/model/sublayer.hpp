#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "math/dropout.hpp"
#include "math/norm.hpp"
#include "math/parameters.hpp"

namespace headcount {

// Where a sublayer's norm stands (Xiong et al. 2020); `add` is what Residual says:
//   pre   x ← add(x, dropout(f(norm(x))))
//   post  x ← norm(add(x, dropout(f(x))))
//   none  x ← add(x, dropout(f(x)))
enum class NormPlacement { pre, post, none };
std::string_view name_of(NormPlacement placement);
NormPlacement parse_norm_placement(std::string_view text);  // throws Error (bad_data)
std::vector<std::string> norm_placement_names();

// What becomes of the stream x and of what a sublayer gives it, y:
//   plain            x + y          (He et al. 2016)
//   none             y
//   scaled_stream    ω ∘ x + y, ω [1, D] trained          (Liu et al. 2020)
//   scaled_sublayer  x + α y, α [1, 1] trained            (Bachlechner et al. 2021)
// ω and α start at 1 unless the initialization scheme says otherwise.
enum class Residual { plain, none, scaled_stream, scaled_sublayer };
std::string_view name_of(Residual residual);
Residual parse_residual(std::string_view text);  // throws Error (bad_data)
std::vector<std::string> residual_names();

// A norm with its parameters.
template <class Real>
class Norm {
 public:
  struct Cache {
    Buffer<Real> normalized;         // [N, D]
    Buffer<Real> inverse_deviation;  // [N, 1]
  };

  // Adds PREFIX.gain and, unless of rms, PREFIX.bias [1, D].
  Norm(NormKind kind, Index width, int layer, const std::string& prefix, ParameterLayout& layout)
      : kind_(kind),
        gain_(layout.add(prefix + ".gain", ParameterRole::norm_gain, layer, 1, width)) {
    if (kind == NormKind::layer)
      bias_ = layout.add(prefix + ".bias", ParameterRole::bias, layer, 1, width);
  }

  // y may be x.
  void forward(const Parameters<Real>& parameters, ConstMatrixRef<Real> x, Cache& cache,
               MatrixRef<Real> y) const {
    normalize<Real>(kind_, x, parameters.view(gain_), parameters.view(bias_),
                    cache.normalized.resize(x.rows(), x.cols()),
                    cache.inverse_deviation.resize(x.rows(), 1), y);
  }

  // d_x += …; adds to `gradient` unless null.
  void backward(const Parameters<Real>& parameters, const Cache& cache, ConstMatrixRef<Real> d_y,
                MatrixRef<Real> d_x, Parameters<Real>* gradient) const {
    if (!gradient) {
      normalize_backward<Real>(kind_, d_y, parameters.view(gain_), cache.normalized.view(),
                               cache.inverse_deviation.view(), d_x, nullptr, nullptr);
      return;
    }
    MatrixRef<Real> d_gain = gradient->view(gain_), d_bias = gradient->view(bias_);
    normalize_backward<Real>(kind_, d_y, parameters.view(gain_), cache.normalized.view(),
                             cache.inverse_deviation.view(), d_x, &d_gain,
                             kind_ == NormKind::layer ? &d_bias : nullptr);
  }

 private:
  NormKind kind_;
  ParameterBlock gain_, bias_;
};

struct SublayerConfig {
  Index width = 0;  // D
  int layer = 0;
  NormPlacement norm = NormPlacement::pre;
  NormKind norm_kind = NormKind::layer;
  Residual residual = Residual::plain;
};

// Residual connection, norm and dropout around any sublayer f.
template <class Real>
class ResidualSublayer {
 public:
  struct Cache {
    typename Norm<Real>::Cache norm;
    Buffer<Real> input;   // [N, D] what f was given
    Buffer<Real> stream;  // [N, D] what came in, where it is scaled and not what f was given
    Buffer<Real> given;   // [N, D] what f gave, where it is scaled
  };
  struct Scratch {
    Buffer<Real> output, d_input;  // [N, D]
  };

  // Adds the parameters of a norm, NORM_PREFIX.*, and RESIDUAL_PREFIX.stream_scale [1, D] or
  // .sublayer_scale [1, 1], where the configuration has them.
  ResidualSublayer(const SublayerConfig& config, const std::string& norm_prefix,
                   const std::string& residual_prefix, std::uint32_t dropout_place,
                   ParameterLayout& layout)
      : placement_(config.norm), residual_(config.residual), dropout_place_(dropout_place) {
    if (placement_ != NormPlacement::none)
      norm_.emplace(config.norm_kind, config.width, config.layer, norm_prefix, layout);
    if (residual_ == Residual::scaled_stream)
      scale_ = layout.add(residual_prefix + ".stream_scale", ParameterRole::stream_scale,
                          config.layer, 1, config.width);
    if (residual_ == Residual::scaled_sublayer)
      scale_ = layout.add(residual_prefix + ".sublayer_scale", ParameterRole::sublayer_scale,
                          config.layer, 1, 1);
  }

  // stream [N, D] in place. f(input, output) fills output.
  template <class Forward>
  void forward(const Parameters<Real>& parameters, const Dropout& dropout, Index first_row,
               Cache& cache, Scratch& scratch, MatrixRef<Real> stream, const Forward& f) const {
    auto input = cache.input.resize(stream.rows(), stream.cols());
    auto output = scratch.output.resize(stream.rows(), stream.cols());
    if (placement_ == NormPlacement::pre)
      norm_->forward(parameters, stream, cache.norm, input);
    else
      input = stream;
    if (keeps_stream()) cache.stream.resize(stream.rows(), stream.cols()) = stream;
    f(read_only<Real>(input), output);
    if (residual_ == Residual::scaled_sublayer)
      cache.given.resize(stream.rows(), stream.cols()) = output;
    add(parameters, dropout, first_row, cache, output, stream);
  }

  // What f gave in the forward() that left these.
  ConstMatrixView<Real> given(const Cache& cache, const Scratch& scratch) const {
    return (residual_ == Residual::scaled_sublayer ? cache.given : scratch.output).view();
  }

  // What forward() does after f: dropout and the residual sum, the norm where it follows. `output`
  // may be changed.
  void add(const Parameters<Real>& parameters, const Dropout& dropout, Index first_row,
           Cache& cache, MatrixRef<Real> output, MatrixRef<Real> stream) const {
    const auto source = dropout.source(dropout_place_, first_row);
    if (residual_ == Residual::scaled_sublayer) output *= parameters.view(scale_)(0, 0);
    if (residual_ == Residual::scaled_stream) scale_columns(parameters, stream);
    if (residual_ == Residual::none)
      kernels<Real>().drop(source, const_rows_of<Real>(output), rows_of<Real>(stream));
    else
      kernels<Real>().add_dropped(source, const_rows_of<Real>(output), rows_of<Real>(stream));
    if (placement_ == NormPlacement::post) norm_->forward(parameters, stream, cache.norm, stream);
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
      norm_->backward(parameters, cache.norm, d_stream, d_input, gradient);
      d_stream = d_input;
    }
    kernels<Real>().drop(dropout.source(dropout_place_, first_row), const_rows_of<Real>(d_stream),
                         rows_of<Real>(d_output));
    scale_backward(parameters, cache, d_stream, d_output, d_input, gradient);
    f(cache.input.view(), d_output, d_input);
    if (!gradient && !input_gradient) return;
    if (residual_ == Residual::none) d_stream.setZero();
    if (residual_ == Residual::scaled_stream) scale_columns(parameters, d_stream);
    if (placement_ == NormPlacement::pre)
      norm_->backward(parameters, cache.norm, d_input, d_stream, gradient);
    else
      d_stream += d_input;
  }

 private:
  // Where ω's gradient needs the stream and f was given its norm.
  bool keeps_stream() const {
    return residual_ == Residual::scaled_stream && placement_ == NormPlacement::pre;
  }

  // x ← ω ∘ x, a row after the other.
  void scale_columns(const Parameters<Real>& parameters, MatrixRef<Real> x) const {
    const auto scale = parameters.view(scale_);
    for (Index i = 0; i < x.rows(); ++i) x.row(i).array() *= scale.row(0).array();
  }

  // The gradient of ω or α, d_output as it comes from dropout; then d_output is that of what f
  // gave. `work` [N, D] is overwritten.
  void scale_backward(const Parameters<Real>& parameters, const Cache& cache,
                      ConstMatrixRef<Real> d_stream, MatrixRef<Real> d_output, MatrixRef<Real> work,
                      Parameters<Real>* gradient) const {
    if (residual_ == Residual::scaled_stream && gradient) {
      work = d_stream;
      const auto x = keeps_stream() ? cache.stream.view() : cache.input.view();
      kernels<Real>().multiply(const_rows_of<Real>(x), rows_of<Real>(work),
                               gradient->view(scale_).data(), nullptr);
    }
    if (residual_ != Residual::scaled_sublayer) return;
    if (gradient)
      gradient->view(scale_)(0, 0) += static_cast<Real>(kernels<Real>().inner_product(
          const_rows_of<Real>(d_output), const_rows_of<Real>(cache.given.view())));
    d_output *= parameters.view(scale_)(0, 0);
  }

  NormPlacement placement_;
  Residual residual_;
  std::optional<Norm<Real>> norm_;
  ParameterBlock scale_;  // ω or α
  std::uint32_t dropout_place_;
};

}  // namespace headcount
