#include "attention/average.hpp"

#include "attention/layer.hpp"
#include "catch.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

// Two sequences of a number a token, values doubled by W_V, averages halved by W_O.
Matrix<double> averages(AttentionMask mask) {
  ParameterLayout layout;
  const AverageAttention<double> average(mask, 1, 0, "average", layout);
  Parameters<double> parameters(layout);
  parameters.view("average.w_v")(0, 0) = 2;
  parameters.view("average.w_o")(0, 0) = 0.5;
  Matrix<double> x(5, 1), out = Matrix<double>::Constant(5, 1, 100);
  x << 2, 4, 9, -3, 7;
  const std::vector<std::int64_t> offsets{0, 3, 5};
  AverageAttention<double>::Cache cache;
  average.forward(parameters, x, offsets, Precision::float32, cache, out);
  return out;
}

}  // namespace

TEST_CASE("averages worked by hand") {
  CHECK(averages(AttentionMask::causal) ==
        (Matrix<double>(5, 1) << 102, 103, 105, 97, 102).finished());
  CHECK(averages(AttentionMask::none) ==
        (Matrix<double>(5, 1) << 105, 105, 105, 102, 102).finished());
}

TEST_CASE("average attention is one head as wide as the model with a uniform pattern") {
  for (const auto mask : {AttentionMask::causal, AttentionMask::none}) {
    CAPTURE(name_of(mask));
    const Index width = Layer<double>::kWidth;
    Layer<double> average({.mask = mask, .encoding = false, .heads = {}, .average = mask});
    Layer<double> head({.mask = mask, .encoding = false, .heads = {0}, .head_width = width});
    head.treatment.mask(head.id(0), MaskKind::uniform);
    head.parameters.view("layer.w_v") = average.parameters.view("layer.average.w_v");
    head.parameters.view("layer.w_o") = average.parameters.view("layer.average.w_o");
    head.parameters.view("layer.b_v").setZero();
    head.parameters.view("layer.b_o") = average.parameters.view("layer.b_o");
    CHECK(relative_difference(average.forward(), head.forward()) < 1e-13);
    const Matrix<double> d_out = random_matrix<double>(head.x.rows(), width, 8);
    const auto its = average.backward(d_out), heads = head.backward(d_out);
    CHECK(relative_difference(its.x, heads.x) < 1e-13);
    CHECK(relative_difference(its.parameters.view("layer.average.w_v"),
                              heads.parameters.view("layer.w_v")) < 1e-13);
    CHECK(relative_difference(its.parameters.view("layer.average.w_o"),
                              heads.parameters.view("layer.w_o")) < 1e-13);
  }
}

TEST_CASE("merged attention is the sum of its parts") {
  for (const Site site : {Site::decoder_self, Site::cross}) {
    const auto mask = site == Site::cross ? AttentionMask::none : AttentionMask::causal;
    LayerShape shape{.site = site, .mask = mask, .average = AttentionMask::causal};
    Layer<double> merged(shape);
    shape.average.reset();
    Layer<double> heads(shape);
    shape.heads.clear();
    shape.average = AttentionMask::causal;
    Layer<double> average(shape);
    for (auto* part : {&heads, &average})
      for (const auto& entry : part->layout.entries())
        if (part == &heads || entry.name.starts_with("layer.average"))
          part->parameters.view(entry.block) = merged.parameters.view(entry.name);
    average.parameters.view("layer.b_o").setZero();
    CHECK(relative_difference(heads.forward() + average.forward(), merged.forward()) < 1e-13);
  }
}
