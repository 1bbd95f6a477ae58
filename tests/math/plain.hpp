// The kernels again, straight from their formulas, in double, one entry at a time.
#pragma once

#include <cmath>
#include <vector>

#include "math/dropout.hpp"
#include "math/matrix.hpp"

namespace headcount::test::plain {

using M = Matrix<double>;

inline M softmax(const M& x) {
  M y = (x.array() - x.maxCoeff()).exp().matrix();
  return y / y.sum();
}
inline double log_sum_exp(const M& x) {
  return x.maxCoeff() + std::log((x.array() - x.maxCoeff()).exp().sum());
}

// What dropout multiplies [rows, cols] by, from Philox itself.
inline M mask(const DropoutSource& source, Index rows, Index cols) {
  M mask = M::Ones(rows, cols);
  if (!source.active()) return mask;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      const auto c = source.first_column + static_cast<std::uint32_t>(j);
      const auto r = c % 32, block = c / 32 * 8 + r % 16 / 2, word = 2 * (r / 16) + r % 2;
      const auto draws = philox(
          {block, source.first_row + static_cast<std::uint32_t>(i), source.step, source.purpose},
          {source.key[0], source.key[1]});
      mask(i, j) = draws[word] < source.threshold ? 0 : source.scale;
    }
  return mask;
}

struct Norm {
  M normalized, y;
  M inverse_deviation;
};
inline Norm normalize(NormKind kind, const M& x, const M& gain, const M& bias, double epsilon) {
  Norm norm{x, x, M(x.rows(), 1)};
  for (Index i = 0; i < x.rows(); ++i) {
    const double mean = kind == NormKind::layer ? x.row(i).mean() : 0;
    const double variance = (x.row(i).array() - mean).square().mean();
    norm.inverse_deviation(i, 0) = 1 / std::sqrt(variance + epsilon);
    for (Index j = 0; j < x.cols(); ++j) {
      norm.normalized(i, j) = (x(i, j) - mean) * norm.inverse_deviation(i, 0);
      norm.y(i, j) =
          norm.normalized(i, j) * gain(0, j) + (kind == NormKind::layer ? bias(0, j) : 0);
    }
  }
  return norm;
}

// Entries that are not visible are 0.
inline M scores(const M& queries, const M& keys, double scale, Visible visible) {
  M s = M::Zero(queries.rows(), keys.rows());
  for (Index i = 0; i < s.rows(); ++i)
    for (Index j = 0; j < visible.keys_of(i); ++j)
      s(i, j) = scale * queries.row(i).dot(keys.row(j));
  return s;
}

inline M additive_scores(const M& queries, const M& keys, const M& weights, Visible visible) {
  M s = M::Zero(queries.rows(), keys.rows());
  for (Index i = 0; i < s.rows(); ++i)
    for (Index j = 0; j < visible.keys_of(i); ++j)
      for (Index k = 0; k < queries.cols(); ++k)
        s(i, j) += weights(0, k) * std::tanh(queries(i, k) + keys(j, k));
  return s;
}

struct AdditiveGradients {
  M queries, keys, weights;
};
// d_scores is 0 where not visible.
inline AdditiveGradients additive_back(const M& queries, const M& keys, const M& weights,
                                       const M& d_scores) {
  AdditiveGradients d{M::Zero(queries.rows(), queries.cols()), M::Zero(keys.rows(), keys.cols()),
                      M::Zero(1, queries.cols())};
  for (Index i = 0; i < d_scores.rows(); ++i)
    for (Index j = 0; j < d_scores.cols(); ++j)
      for (Index k = 0; k < queries.cols(); ++k) {
        const double t = std::tanh(queries(i, k) + keys(j, k));
        const double change = d_scores(i, j) * weights(0, k) * (1 - t * t);
        d.queries(i, k) += change;
        d.keys(j, k) += change;
        d.weights(0, k) += d_scores(i, j) * t;
      }
  return d;
}

inline M patterns(const M& scores, Visible visible) {
  M a = M::Zero(scores.rows(), scores.cols());
  for (Index i = 0; i < a.rows(); ++i)
    a.row(i).head(visible.keys_of(i)) = softmax(scores.row(i).head(visible.keys_of(i)));
  return a;
}

inline double activation(Activation kind, double x) {
  switch (kind) {
    case Activation::relu:
      return x > 0 ? x : 0;
    case Activation::gelu:
      return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  }
  return NAN;
}
inline double slope(Activation kind, double x) {
  switch (kind) {
    case Activation::relu:
      return x > 0;
    case Activation::gelu:
      return 0.5 * std::erfc(-x / std::sqrt(2.0)) + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
    case Activation::gelu_tanh: {
      const double c = std::sqrt(2 / M_PI), t = std::tanh(c * (x + 0.044715 * x * x * x));
      return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x);
    }
  }
  return NAN;
}

}  // namespace headcount::test::plain
