#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
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
// Whether factors of Real are rounded in it.
template <class Real>
constexpr bool is_rounded(Precision precision) {
  return std::is_same_v<Real, float> && precision == Precision::bfloat16;
}

// A factor of a large product: its numbers, and for a product in bfloat16 those rounded. A factor
// of several products need be rounded only once.
template <class Real>
struct Factor {
  ConstMatrixView<Real> values;
  const std::uint16_t* rounded = nullptr;  // null in float32; else `values` count for their shape
  Index stride = 0;                        // of rounded

  // Any row-major matrix, view or block of one.
  template <class Dense>
  Factor(const Dense& x) : Factor(x, nullptr, 0) {}
  template <class Dense>
  Factor(const Dense& x, const std::uint16_t* rounded_values, Index rounded_stride)
      : values(x.data(), x.rows(), x.cols(), Eigen::OuterStride<>(x.outerStride())),
        rounded(rounded_values),
        stride(rounded_stride) {
    static_assert(Dense::IsRowMajor);
  }
};

// Makes factors and keeps their rounded numbers, so that a backward pass can use them again.
template <class Real>
class Rounding {
 public:
  // x in that precision. In double always itself.
  Factor<Real> of(Precision precision, ConstMatrixRef<Real> x);
  // The same x once more, or rows of it from `first`.
  Factor<Real> again(ConstMatrixRef<Real> x, Index first = 0) const {
    return {x, rounded_ ? memory_.data() + first * x.cols() : nullptr, x.cols()};
  }

  // For kernels that round what they make: after start() row(i) is where row i of a matrix
  // [rows, cols] goes, null in float32, and again() gives the factor.
  void start(Precision precision, Index rows, Index cols);
  std::uint16_t* row(Index i) { return rounded_ ? memory_.data() + i * memory_.cols() : nullptr; }

 private:
  Buffer<std::uint16_t> memory_;
  bool rounded_ = false;
};

// The large products of a model, always on the calling thread: oneDNN for float where the build
// found it, Eigen otherwise and for double. With Accumulate::yes the result is added to c, else it
// replaces c. Both factors are rounded, or none is.

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
void product(const Factor<Real>& a, const Factor<Real>& b, MatrixRef<Real> c,
             Accumulate accumulate = Accumulate::no);

// c [m, n] = a [m, k] · bᵀ, b [n, k]
template <class Real>
void product_bt(const Factor<Real>& a, const Factor<Real>& b, MatrixRef<Real> c,
                Accumulate accumulate = Accumulate::no);

// c [m, n] = aᵀ · b, a [k, m], b [k, n]
template <class Real>
void product_at(const Factor<Real>& a, const Factor<Real>& b, MatrixRef<Real> c,
                Accumulate accumulate = Accumulate::no);

// bias [1, n] += column sums of x [N, n], rows in order.
template <class Real>
void add_column_sums(ConstMatrixRef<Real> x, MatrixRef<Real> bias);

// Every row of x [N, n] += bias [1, n].
template <class Real>
void add_to_rows(ConstMatrixRef<Real> bias, MatrixRef<Real> x);

}  // namespace headcount
