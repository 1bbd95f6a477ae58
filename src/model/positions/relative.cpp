#include <algorithm>

#include "math/reduce.hpp"
#include "model/positions/registry.hpp"

namespace headcount {
namespace {

// The rows of a table [2k + 1, K] that a sequence can name: those of offsets from -reach on.
struct TableWindow {
  Index reach = 0, first_row = 0, rows = 0;
};

// For one head and sequence, numbers n[i, c] of query i and clipped offset c, with what is made of
// them. `table` is what the window shows of one.
template <class Real>
class ByOffset {
 public:
  ByOffset(const TableWindow& window, const HeadSlice<Real>& slice, Buffer<Real>& work)
      : reach_(window.reach),
        visible_(slice.visible),
        width_(slice.queries.cols()),
        numbers_(work.resize(1, room_for(window, slice)).data(), slice.queries.rows(), window.rows,
                 Eigen::OuterStride<>(window.rows)),
        room_(numbers_.data() + numbers_.size()) {}

  // n = scale x tableᵀ
  void multiply(ConstMatrixRef<Real> x, ConstMatrixRef<Real> table, Real scale) {
    kernels<Real>().scores(const_rows_of<Real>(x), const_rows_of<Real>(table), scale,
                           Visible::all(table.rows()), rows_of<Real>(numbers_), room_);
  }
  // n[i, c] = Σ pattern[i, j] over the visible keys j at that offset
  void sum(ConstMatrixRef<Real> pattern) {
    numbers_.setZero();
    for (Index i = 0; i < pattern.rows(); ++i)
      each_run(i, [&](Index key, Index keys, Index column, bool same) {
        const Real* from = pattern.row(i).data() + key;
        if (same)
          numbers_(i, column) += headcount::sum(from, keys);
        else
          std::copy_n(from, keys, numbers_.row(i).data() + column);
      });
  }
  // out[i, j] += n[i, c(j - i)] at visible keys j
  void add_along(MatrixRef<Real> out) const {
    for (Index i = 0; i < out.rows(); ++i)
      each_run(i, [&](Index key, Index keys, Index column, bool same) {
        Real* to = out.row(i).data() + key;
        const Real* from = numbers_.row(i).data() + column;
        const Real first = *from;
        for (Index j = 0; j < keys; ++j) to[j] += same ? first : from[j];
      });
  }
  // out += scale n · table
  void add_mixed(ConstMatrixRef<Real> table, Real scale, MatrixRef<Real> out) {
    MatrixView<Real> product = room(numbers_.rows());
    kernels<Real>().mix(const_rows_of<Real>(numbers_), const_rows_of<Real>(table), scale,
                        Visible::all(table.rows()), rows_of<Real>(product));
    out += product;
  }
  // d_table += scale nᵀ · x
  void add_mixed_back(ConstMatrixRef<Real> x, Real scale, MatrixRef<Real> d_table) {
    MatrixView<Real> product = room(d_table.rows());
    kernels<Real>().mix_back(const_rows_of<Real>(numbers_), const_rows_of<Real>(x), scale,
                             Visible::all(d_table.rows()), rows_of<Real>(product));
    d_table += product;
  }

 private:
  // f(first key, keys, column of the first, whether all have that column) over what query i sees.
  template <class F>
  void each_run(Index i, const F& f) const {
    const Index seen = visible_.keys_of(i);
    const Index near = std::clamp<Index>(i - reach_ + 1, 0, seen);
    const Index far = std::clamp<Index>(i + reach_, near, seen);
    if (near > 0) f(Index{0}, near, Index{0}, true);
    if (far > near) f(near, far - near, near - i + reach_, false);
    if (seen > far) f(far, seen - far, 2 * reach_, true);
  }
  static Index room_for(const TableWindow& window, const HeadSlice<Real>& slice) {
    const Index queries = slice.queries.rows(), width = slice.queries.cols();
    const Index product = std::max(queries, window.rows) * width;
    return queries * window.rows + std::max<Index>(product, work_size(window.rows, width));
  }
  MatrixView<Real> room(Index rows) { return {room_, rows, width_, Eigen::OuterStride<>(width_)}; }

  Index reach_;
  Visible visible_;
  Index width_;               // K
  MatrixView<Real> numbers_;  // [Tq, rows]
  Real* room_;                // of a product [Tq or rows, K], or for the kernels to work in
};

// Trained vectors of offsets, clipped to |c| ≤ k, stand beside keys and values:
//
//   scores[i, j] = q_i · (k_j + a^K[c(j - i)]) / √K
//   context_i = Σ_j A[i, j] (v_j + a^V[c(j - i)])
//
// with two tables a layer, which its heads share. Nothing is made per pair of tokens (section 3.3):
// queries are multiplied with rows of a table and the products laid along the offsets; patterns are
// summed by offset and the sums multiplied with rows.
template <class Real>
class Relative : public PositionEncoding<Real> {
 public:
  Relative(const PositionConfig& config, ParameterLayout& layout)
      : distance_(config.relative_distance), causal_(config.mask == AttentionMask::causal) {
    for (std::size_t layer = 0; layer < config.heads.size(); ++layer) {
      auto& tables = tables_.emplace_back();
      if (config.heads[layer] == 0) continue;
      const auto add = [&](const char* name) {
        return layout.add(fmt::format("{}.{}.self.{}", config.stack, layer, name),
                          ParameterRole::position_embedding, static_cast<int>(layer),
                          2 * distance_ + 1, config.head_widths[layer]);
      };
      tables.keys = add("relative_k");
      tables.values = add("relative_v");
    }
  }

  Index rows_beside(Index length) const override { return window(length).rows; }

  bool acts_on_scores() const override { return true; }
  void add_to_scores(const Parameters<Real>& parameters, const HeadSlice<Real>& slice,
                     MatrixRef<Real> scores, Buffer<Real>& work) const override {
    ByOffset<Real> products(window(slice), slice, work);
    products.multiply(slice.queries, rows(parameters, tables(slice).keys, slice), slice.scale);
    products.add_along(scores);
  }
  void scores_backward(const Parameters<Real>& parameters, const HeadSlice<Real>& slice,
                       ConstMatrixRef<Real> d_scores, MatrixRef<Real> d_queries, MatrixRef<Real>,
                       Parameters<Real>* gradient, Buffer<Real>& work) const override {
    const auto& keys = tables(slice).keys;
    ByOffset<Real> sums(window(slice), slice, work);
    sums.sum(d_scores);
    sums.add_mixed(rows(parameters, keys, slice), slice.scale, d_queries);
    if (gradient) sums.add_mixed_back(slice.queries, slice.scale, rows(*gradient, keys, slice));
  }

  bool acts_on_contexts() const override { return true; }
  void add_to_context(const Parameters<Real>& parameters, const HeadSlice<Real>& slice,
                      ConstMatrixRef<Real> pattern, MatrixRef<Real> context,
                      Buffer<Real>& work) const override {
    ByOffset<Real> sums(window(slice), slice, work);
    sums.sum(pattern);
    sums.add_mixed(rows(parameters, tables(slice).values, slice), 1, context);
  }
  void context_to_pattern(const Parameters<Real>& parameters, const HeadSlice<Real>& slice,
                          ConstMatrixRef<Real> d_context, MatrixRef<Real> d_pattern,
                          Buffer<Real>& work) const override {
    ByOffset<Real> products(window(slice), slice, work);
    products.multiply(d_context, rows(parameters, tables(slice).values, slice), 1);
    products.add_along(d_pattern);
  }
  void context_to_parameters(const HeadSlice<Real>& slice, ConstMatrixRef<Real> pattern,
                             ConstMatrixRef<Real> d_context, Parameters<Real>& gradient,
                             Buffer<Real>& work) const override {
    ByOffset<Real> sums(window(slice), slice, work);
    sums.sum(pattern);
    sums.add_mixed_back(d_context, 1, rows(gradient, tables(slice).values, slice));
  }

 private:
  struct Tables {
    ParameterBlock keys, values;  // [2k + 1, K]; row 0 is offset -k
  };

  const Tables& tables(const HeadSlice<Real>& slice) const {
    return tables_[static_cast<std::size_t>(slice.id.layer)];
  }
  TableWindow window(Index length) const {
    const Index reach = std::min(distance_, length - 1);
    return {reach, distance_ - reach, causal_ ? reach + 1 : 2 * reach + 1};
  }
  TableWindow window(const HeadSlice<Real>& slice) const { return window(slice.queries.rows()); }
  template <class AnyParameters>
  auto rows(AnyParameters& parameters, const ParameterBlock& table,
            const HeadSlice<Real>& slice) const {
    const auto shown = window(slice);
    return parameters.view(table).middleRows(shown.first_row, shown.rows);
  }

  Index distance_;  // k
  bool causal_;
  std::vector<Tables> tables_;  // per layer
};

}  // namespace

PositionEntry relative_positions() {
  return position_entry<Relative>(
      {"relative",
       "trained vectors of the offset, clipped at model.relative-distance, stand beside keys "
       "and values; a layer's heads share them",
       "Shaw et al. 2018"});
}

}  // namespace headcount
