#pragma once

#include <Eigen/Core>
#include <cstdlib>
#include <memory>
#include <new>

#include "math/kernels/kernels.hpp"

namespace headcount {

// Shapes in comments, one alphabet everywhere: N tokens of a packed batch, B sequences, T length
// (Tq queries, Tk keys), D model width, H heads, K head width, F feed-forward width, L layers, V
// vocabulary.
using Index = Eigen::Index;

// All matrices are row-major.
template <class Real>
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Real>
using RowVector = Eigen::Matrix<Real, 1, Eigen::Dynamic, Eigen::RowMajor>;

// Views of memory owned elsewhere; rows may lie `stride` numbers apart.
template <class Real>
using MatrixView = Eigen::Map<Matrix<Real>, Eigen::Unaligned, Eigen::OuterStride<>>;
template <class Real>
using ConstMatrixView = Eigen::Map<const Matrix<Real>, Eigen::Unaligned, Eigen::OuterStride<>>;

template <class Real>
ConstMatrixView<Real> read_only(const MatrixView<Real>& view) {
  return {view.data(), view.rows(), view.cols(), Eigen::OuterStride<>(view.outerStride())};
}

// A rectangle of a view, as a view.
template <class Real>
MatrixView<Real> cut(MatrixView<Real> view, Index row, Index rows, Index column, Index columns) {
  const Index stride = view.outerStride();
  return {view.data() + row * stride + column, rows, columns, Eigen::OuterStride<>(stride)};
}
template <class Real>
ConstMatrixView<Real> cut(ConstMatrixView<Real> view, Index row, Index rows, Index column,
                          Index columns) {
  const Index stride = view.outerStride();
  return {view.data() + row * stride + column, rows, columns, Eigen::OuterStride<>(stride)};
}

// Parameters of functions: bind to matrices, views and blocks without a copy.
template <class Real>
using MatrixRef = Eigen::Ref<Matrix<Real>, 0, Eigen::OuterStride<>>;
template <class Real>
using ConstMatrixRef = const Eigen::Ref<const Matrix<Real>, 0, Eigen::OuterStride<>>&;

// The same as the kernels see it.
template <class Real>
Rows<Real> rows_of(MatrixRef<Real> x) {
  return {x.data(), x.rows(), x.cols(), x.outerStride()};
}
template <class Real>
Rows<const Real> const_rows_of(ConstMatrixRef<Real> x) {
  return {x.data(), x.rows(), x.cols(), x.outerStride()};
}

// Memory that grows and never shrinks, so that a loop over batches allocates only at first. Aligned
// to 64 bytes: Eigen's vector loops start at the first aligned element, so results depend on
// alignment unless it is always the same.
template <class Real>
class Buffer {
 public:
  // A contiguous [rows, cols] view; earlier contents are lost when it grows.
  MatrixView<Real> resize(Index rows, Index cols) {
    const Index size = rows * cols;
    if (size > capacity_) {
      constexpr std::size_t kAlignment = 64;
      const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(Real);
      const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
      data_.reset(static_cast<Real*>(std::aligned_alloc(kAlignment, rounded)));
      if (!data_) throw std::bad_alloc();
      capacity_ = size;
    }
    rows_ = rows;
    cols_ = cols;
    return view();
  }

  MatrixView<Real> zeros(Index rows, Index cols) {
    auto matrix = resize(rows, cols);
    matrix.setZero();
    return matrix;
  }

  MatrixView<Real> view() { return {data_.get(), rows_, cols_, Eigen::OuterStride<>(cols_)}; }
  ConstMatrixView<Real> view() const {
    return {data_.get(), rows_, cols_, Eigen::OuterStride<>(cols_)};
  }
  Real* data() { return data_.get(); }
  const Real* data() const { return data_.get(); }
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }

 private:
  struct Free {
    void operator()(Real* p) const { std::free(p); }
  };
  std::unique_ptr<Real, Free> data_;
  Index capacity_ = 0, rows_ = 0, cols_ = 0;
};

}  // namespace headcount
