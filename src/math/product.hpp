#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "math/matrix.hpp"

namespace headcount {

enum class Accumulate { no, yes };

// What the inputs of a product are rounded to; sums are float32 either way. For float; a product in
// double is always one in double.
enum class Precision { float32, bfloat16 };
std::string_view name_of(Precision precision);
std::vector<std::string> precision_names();
Precision parse_precision(std::string_view text);  // throws Error (bad_data)

// The large products of a model, always on the calling thread: oneDNN for float where the build
// found it, Eigen otherwise and for double. With Accumulate::yes the result is added to c, else it
// replaces c.

// "oneDNN 2.6.3" or "Eigen".
std::string_view product_library();

// Whether the processor multiplies bfloat16 by itself. Elsewhere rounded inputs go through the
// product in float32: right, and slower than float32 alone.
bool has_fast_bfloat16();

// Which instructions that library chooses on this processor, as a number of its own; "" where the
// build alone decides. Other levels give other bits.
std::string product_level();

// c [m, n] = a [m, k] · b [k, n]
template <class Real>
void product(ConstMatrixRef<Real> a, ConstMatrixRef<Real> b, MatrixRef<Real> c,
             Precision precision = Precision::float32, Accumulate accumulate = Accumulate::no);

// c [m, n] = a [m, k] · bᵀ, b [n, k]
template <class Real>
void product_bt(ConstMatrixRef<Real> a, ConstMatrixRef<Real> b, MatrixRef<Real> c,
                Precision precision = Precision::float32, Accumulate accumulate = Accumulate::no);

// c [m, n] = aᵀ · b, a [k, m], b [k, n]
template <class Real>
void product_at(ConstMatrixRef<Real> a, ConstMatrixRef<Real> b, MatrixRef<Real> c,
                Precision precision = Precision::float32, Accumulate accumulate = Accumulate::no);

// bias [1, n] += column sums of x [N, n], rows in order.
template <class Real>
void add_column_sums(ConstMatrixRef<Real> x, MatrixRef<Real> bias);

// Every row of x [N, n] += bias [1, n].
template <class Real>
void add_to_rows(ConstMatrixRef<Real> bias, MatrixRef<Real> x);

}  // namespace headcount
