#include "model/feed_forward.hpp"

#include <memory>
#include <utility>

#include "catch.hpp"
#include "support/matrices.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

struct Pass {
  std::unique_ptr<ParameterLayout> layout;
  Matrix<float> out, d_x;
  Parameters<float> gradient;
};

Pass pass(Precision precision, Index width, Index inner, Index rows) {
  auto layout = std::make_unique<ParameterLayout>();
  const FeedForward<float> feed_forward(width, inner, Activation::gelu, 0, "ff", *layout);
  Parameters<float> parameters(*layout);
  std::uint32_t seed = 1;
  for (const auto& entry : layout->entries())
    parameters.view(entry.block) =
        random_matrix<float>(entry.block.rows, entry.block.cols, seed++, 0.3);
  parameters.round(precision);
  const auto x = random_matrix<float>(rows, width, 11),
             d_out = random_matrix<float>(rows, width, 12);
  FeedForward<float>::Cache cache;
  FeedForward<float>::Scratch scratch;
  Parameters<float> gradient(*layout);
  Pass made{std::move(layout), Matrix<float>(rows, width), Matrix<float>(rows, width),
            std::move(gradient)};
  feed_forward.forward(parameters, precision, true, x, cache, scratch, made.out);
  feed_forward.backward(parameters, precision, x, cache, scratch, d_out, made.d_x, &made.gradient);

  Matrix<float> alone(rows, width);
  feed_forward.forward(parameters, precision, false, x, cache, scratch, alone);
  CHECK(same_bits(alone, made.out));
  return made;
}

}  // namespace

// Rows in one piece, and in several.
TEST_CASE("feed-forward with factors in bfloat16 is that in float, coarsely") {
  const auto [inner, rows] = GENERATE(table<Index, Index>({{24, 7}, {8192, 150}}));
  CAPTURE(inner, rows);
  const Index width = 3;
  const auto wanted = pass(Precision::float32, width, inner, rows);
  const auto found = pass(Precision::bfloat16, width, inner, rows);
  CHECK_FALSE(same_bits(found.out, wanted.out));
  CHECK(relative_difference(found.out, wanted.out) < 0.05);
  CHECK(relative_difference(found.d_x, wanted.d_x) < 0.05);
  for (const auto& entry : wanted.gradient.layout().entries()) {
    CAPTURE(entry.name);
    CHECK(relative_difference(found.gradient.view(entry.block), wanted.gradient.view(entry.block)) <
          0.05);
  }
}
