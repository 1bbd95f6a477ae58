#pragma once

#include "attention/mask.hpp"
#include "math/matrix.hpp"

namespace headcount {

// One head of attention, straight from the formula and slow: what the fast paths are compared with.
template <class Real>
struct PlainAttention {
  Matrix<Real> pattern;  // [Tq, Tk]
  Matrix<Real> context;  // [Tq, K]
};

// pattern[i, j] = exp(s[i, j]) / Σ_j' exp(s[i, j']) over visible keys, s = Q Kᵀ/√K + added;
// context = pattern · values. queries [Tq, K], keys and values [Tk, K], added [Tq, Tk] or empty.
template <class Real>
PlainAttention<Real> plain_attention(const Matrix<Real>& queries, const Matrix<Real>& keys,
                                     const Matrix<Real>& values, const Matrix<Real>& added,
                                     AttentionMask mask);

}  // namespace headcount
