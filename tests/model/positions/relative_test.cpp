#include <rapidcheck.h>

#include "catch.hpp"
#include "model/positions/scores.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

PositionConfig stack(AttentionMask mask, Index distance) {
  auto config = encoded_stack({2, 0, 1}, mask);
  config.head_widths = {4, 4, 6};
  config.relative_distance = distance;
  return config;
}

Index clipped(Index offset, Index distance) {
  return std::clamp(offset, -distance, distance) + distance;
}

}  // namespace

TEST_CASE("relative positions: two tables a layer that has heads") {
  const Encoded<float> relative("relative", stack(AttentionMask::none, 3));
  REQUIRE(relative.layout.entries().size() == 4);
  const auto& keys = relative.layout.at("decoder.0.self.relative_k");
  CHECK(keys.role == ParameterRole::position_embedding);
  CHECK(keys.layer == 0);
  CHECK((keys.block.rows == 7 && keys.block.cols == 4));
  const auto& values = relative.layout.at("decoder.2.self.relative_v");
  CHECK(values.layer == 2);
  CHECK((values.block.rows == 7 && values.block.cols == 6));
}

// Equations 3 and 4 of the paper, pair by pair, and their derivatives.
TEMPLATE_TEST_CASE("relative positions are those of the formula, for every length and distance", "",
                   float, double) {
  using Real = TestType;
  const double bound = std::is_same_v<Real, float> ? 1e-5 : 1e-13;
  REQUIRE(rc::check("formula", [&] {
    const auto mask = *rc::gen::element(AttentionMask::causal, AttentionMask::none);
    const Index length = *rc::gen::inRange(1, 40), distance = *rc::gen::inRange(1, 24);
    Encoded<Real> relative("relative", stack(mask, distance));
    const Matrix<Real> queries = random_matrix<Real>(length, 6, 21);
    const Matrix<Real> keys = random_matrix<Real>(length, 6, 22);
    const auto slice = relative.slice(2, 0, queries, keys);
    const Matrix<Real> a_k = relative.parameters.view("decoder.2.self.relative_k");
    const Matrix<Real> a_v = relative.parameters.view("decoder.2.self.relative_v");
    const Matrix<Real> pattern = random_matrix<Real>(length, length, 23);  // and d_scores
    const Matrix<Real> d_context = random_matrix<Real>(length, 6, 24);

    Matrix<Real> scores = Matrix<Real>::Constant(length, length, 77), d_pattern = scores;
    Matrix<Real> context = Matrix<Real>::Ones(length, 6), d_queries = context;
    Matrix<Real> d_keys = Matrix<Real>::Zero(length, 6);
    Matrix<double> d_a_k = Matrix<double>::Zero(2 * distance + 1, 6), d_a_v = d_a_k;
    for (Index i = 0; i < length; ++i)
      for (Index j = 0; j < slice.visible.keys_of(i); ++j) {
        const Index c = clipped(j - i, distance);
        scores(i, j) = 1 + queries.row(i).dot(a_k.row(c)) / 2;  // slice.scale is ½
        d_pattern(i, j) = 1 + d_context.row(i).dot(a_v.row(c));
        context.row(i) += pattern(i, j) * a_v.row(c);
        d_queries.row(i) += pattern(i, j) * a_k.row(c) / 2;
        d_a_k.row(c) += (pattern(i, j) * queries.row(i) / 2).template cast<double>();
        d_a_v.row(c) += (pattern(i, j) * d_context.row(i)).template cast<double>();
      }

    const auto start = [&](const Matrix<Real>& wanted) {  // 1 where visible
      return Matrix<Real>((wanted.array() == 77).select(wanted.array(), Real{1}).matrix());
    };
    const auto& hooks = *relative.encoding;
    Matrix<Real> found = start(scores);
    hooks.add_to_scores(relative.parameters, slice, found, relative.work);
    RC_ASSERT(relative_difference(found, scores) < bound);
    found = start(d_pattern);
    hooks.context_to_pattern(relative.parameters, slice, d_context, found, relative.work);
    RC_ASSERT(relative_difference(found, d_pattern) < bound);
    found.setOnes(length, 6);
    hooks.add_to_context(relative.parameters, slice, pattern, found, relative.work);
    RC_ASSERT(relative_difference(found, context) < bound);

    Parameters<Real> gradient(relative.layout);
    found.setOnes(length, 6);
    hooks.scores_backward(relative.parameters, slice, pattern, found, d_keys, &gradient,
                          relative.work);
    RC_ASSERT(relative_difference(found, d_queries) < bound);
    RC_ASSERT(d_keys.isZero(0));
    hooks.context_to_parameters(slice, pattern, d_context, gradient, relative.work);
    RC_ASSERT(relative_difference(gradient.view("decoder.2.self.relative_k"), d_a_k) < bound);
    RC_ASSERT(relative_difference(gradient.view("decoder.2.self.relative_v"), d_a_v) < bound);
    found.setOnes(length, 6);
    hooks.scores_backward(relative.parameters, slice, pattern, found, d_keys, nullptr,
                          relative.work);
    RC_ASSERT(relative_difference(found, d_queries) < bound);
  }));
}

TEST_CASE("relative positions multiply with the rows that a sequence can name") {
  const Encoded<float> causal("relative", stack(AttentionMask::causal, 5));
  CHECK(causal.encoding->rows_beside(1) == 1);
  CHECK(causal.encoding->rows_beside(4) == 4);
  CHECK(causal.encoding->rows_beside(100) == 6);
  const Encoded<float> open("relative", stack(AttentionMask::none, 5));
  CHECK(open.encoding->rows_beside(4) == 7);
  CHECK(open.encoding->rows_beside(100) == 11);
}
