// What a position encoding adds to the scores of one head.
#pragma once

#include "model/positions/position_encoding.hpp"
#include "support/matrices.hpp"

namespace headcount::test {

// Two layers, of so many heads each.
inline PositionConfig encoded_stack(std::vector<int> heads, AttentionMask mask,
                                    Index longest = 200) {
  PositionConfig config{8, longest};
  config.mask = mask;
  config.head_widths.assign(heads.size(), 4);
  config.heads = std::move(heads);
  return config;
}

// An encoding of such a stack, with parameters drawn.
template <class Real>
struct Encoded {
  PositionConfig config;
  ParameterLayout layout;
  std::unique_ptr<PositionEncoding<Real>> encoding;
  Parameters<Real> parameters;
  Buffer<Real> work;

  Encoded(const std::string& name, PositionConfig given)
      : config(std::move(given)),
        encoding(position_encodings().at(name).make<Real>(config, layout)),
        parameters(layout) {
    std::uint32_t seed = 1;
    for (const auto& entry : layout.entries())
      parameters.view(entry.block) =
          random_matrix<Real>(entry.block.rows, entry.block.cols, seed++);
  }

  Visible visible(Index length) const {
    return config.mask == AttentionMask::causal ? Visible::up_to_itself(length, length)
                                                : Visible::all(length);
  }
  static ConstMatrixView<Real> view(const Matrix<Real>& m) {
    return {m.data(), m.rows(), m.cols(), Eigen::OuterStride<>(m.cols())};
  }
  HeadSlice<Real> slice(int layer, int head, const Matrix<Real>& queries,
                        const Matrix<Real>& keys) const {
    return {{Site::decoder_self, layer, head},
            view(queries),
            view(keys),
            visible(queries.rows()),
            Real{0.5}};
  }

  // [T, T]; 77 stays where nothing was to be added.
  Matrix<Real> added(int layer, int head, const Matrix<Real>& queries, const Matrix<Real>& keys) {
    Matrix<Real> scores = Matrix<Real>::Constant(queries.rows(), keys.rows(), Real{77});
    for (Index i = 0; i < scores.rows(); ++i)
      scores.row(i).head(visible(scores.rows()).keys_of(i)).setZero();
    encoding->add_to_scores(parameters, slice(layer, head, queries, keys), scores, work);
    return scores;
  }
  Matrix<Real> added(int layer, int head, Index length) {
    const Matrix<Real> zero = Matrix<Real>::Zero(length, 4);
    return added(layer, head, zero, zero);
  }
};

}  // namespace headcount::test
