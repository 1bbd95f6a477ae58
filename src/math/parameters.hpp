#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "math/matrix.hpp"

namespace headcount {

// What a parameter does in the model; initialization schemes and weight decay go by it.
enum class ParameterRole {
  token_embedding,     // [V, D]
  position_embedding,  // [T, D], or tables that go by relative positions
  query,               // [D, H·K]
  key,
  value,
  score,             // [H, K]
  attention_output,  // [H·K, D]
  feed_forward_in,   // [D, F]
  feed_forward_out,  // [F, D]
  output,            // [D, V]
  bias,              // [1, n]
  norm_gain,         // [1, D]
  stream_scale,      // [1, D] ω
  sublayer_scale,    // [1, 1] α
};

std::string_view name_of(ParameterRole role);
bool is_weight(
    ParameterRole role);  // a matrix in a product or an embedding: what weight decay acts on

// A rectangle in the flat parameter vector: entry (i, j) lies at offset + i·stride + j.
struct ParameterBlock {
  Index offset = 0, rows = 0, cols = 0, stride = 0;
};

struct ParameterEntry {
  std::string name;  // "decoder.0.self.w_q"
  ParameterRole role{};
  int layer = -1;  // of its stack, from 0; -1 outside the layers
  ParameterBlock block;
};

// Which parameters a model has and where they lie. All live in one flat vector, so that one sweep
// updates them all; parameters that are used in one product (W_Q, W_K, W_V) stand side by side as
// columns of one block.
class ParameterLayout {
 public:
  struct Column {
    std::string name;
    ParameterRole role{};
    Index cols = 0;
  };

  ParameterBlock add(std::string name, ParameterRole role, int layer, Index rows, Index cols);
  // One block of Σ cols columns whose parts are entries of their own.
  ParameterBlock add_side_by_side(int layer, Index rows, const std::vector<Column>& columns);

  Index size() const {
    return size_;
  }                            // of the flat vector, with padding to 64 bytes between blocks
  std::int64_t count() const;  // trained numbers, without padding
  const std::vector<ParameterEntry>& entries() const { return entries_; }
  const ParameterEntry& at(std::string_view name) const;  // throws Error (bad_data)
  bool contains(std::string_view name) const;

 private:
  Index reserve(Index numbers);
  Index size_ = 0;
  std::vector<ParameterEntry> entries_;
};

// Values (or gradients, or moments) in that layout. The layout must outlive it.
template <class Real>
class Parameters {
 public:
  Parameters() = default;
  explicit Parameters(const ParameterLayout& layout) : layout_(&layout) {
    values_.zeros(1, layout.size());
  }
  Parameters(Parameters&&) noexcept = default;
  Parameters& operator=(Parameters&&) noexcept = default;

  Parameters clone() const {
    Parameters copy(*layout_);
    copy.values_.view() = values_.view();
    return copy;
  }

  const ParameterLayout& layout() const { return *layout_; }
  Index size() const { return values_.cols(); }
  Real* data() { return values_.data(); }
  const Real* data() const { return values_.data(); }
  void set_zero() { values_.view().setZero(); }

  MatrixView<Real> view(const ParameterBlock& b) {
    return {data() + b.offset, b.rows, b.cols, Eigen::OuterStride<>(b.stride)};
  }
  ConstMatrixView<Real> view(const ParameterBlock& b) const {
    return {data() + b.offset, b.rows, b.cols, Eigen::OuterStride<>(b.stride)};
  }
  MatrixView<Real> view(std::string_view name) { return view(layout_->at(name).block); }
  ConstMatrixView<Real> view(std::string_view name) const { return view(layout_->at(name).block); }

 private:
  const ParameterLayout* layout_ = nullptr;
  Buffer<Real> values_;
};

}  // namespace headcount
