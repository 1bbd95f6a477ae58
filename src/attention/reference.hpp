#pragma once

#include <string_view>

#include "attention/mask.hpp"
#include "math/matrix.hpp"

namespace headcount {

// One head of attention, straight from the formula and slow: what the fast paths are compared with.
template <class Real>
struct PlainAttention {
  Matrix<Real> pattern;  // [Tq, Tk]
  Matrix<Real> context;  // [Tq, K]
};

// pattern[i, j] = exp(s[i, j]) / Σ_j' exp(s[i, j']) over visible keys, with s what the score
// function of that name says, and `added`; context = pattern · values. queries [Tq, K], keys and
// values [Tk, K], added [Tq, Tk] or empty, weights [1, K] those of an additive score.
template <class Real>
PlainAttention<Real> plain_attention(const Matrix<Real>& queries, const Matrix<Real>& keys,
                                     const Matrix<Real>& values, const Matrix<Real>& added,
                                     AttentionMask mask, std::string_view score = "scaled-dot",
                                     const RowVector<Real>& weights = {});

}  // namespace headcount
