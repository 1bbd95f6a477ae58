#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "math/product.hpp"

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
//
// As factors in bfloat16 they are rounded by round(), all at once, so that the shards of a step
// need not each do it; after any access that could change them they must be rounded again.
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
  Real* data() {
    is_rounded_ = false;
    return values_.data();
  }
  const Real* data() const { return values_.data(); }
  void set_zero() {
    is_rounded_ = false;
    values_.view().setZero();
  }

  // Makes what factor() needs in that precision.
  void round(Precision precision) {
    if (!headcount::is_rounded<Real>(precision)) return;
    kernels<Real>().to_bfloat16({std::as_const(*this).data(), 1, size(), size()},
                                rounded_.resize(1, size()).data());
    is_rounded_ = true;
  }
  // A block as a factor of a product. Throws Error (internal) where round() was forgotten.
  Factor<Real> factor(Precision precision, const ParameterBlock& b) const {
    if (!headcount::is_rounded<Real>(precision)) return view(b);
    if (!is_rounded_)
      throw Error(ExitCode::internal, "parameters that were not rounded for a product in bfloat16");
    return {view(b), rounded_.data() + b.offset, b.stride};
  }

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
  Buffer<std::uint16_t> rounded_;
  bool is_rounded_ = false;
};

}  // namespace headcount
