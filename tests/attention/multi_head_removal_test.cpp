// Rules 1 and 2 for one sublayer; whole models in tests/model/removal_test.cpp.
#include "attention/random_shape.hpp"
#include "base/error.hpp"
#include "catch.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

// The same layer with fewer heads, parameters copied: those that are no head's, as a model does it.
template <class Real>
std::unique_ptr<Layer<Real>> smaller(const Layer<Real>& layer, std::vector<int> heads) {
  LayerShape shape = layer.shape;
  shape.heads = std::move(heads);
  auto small = std::make_unique<Layer<Real>>(shape);
  for (const auto& entry : small->layout.entries())
    if (entry.name.starts_with("double.") || entry.name.starts_with("layer.average."))
      small->parameters.view(entry.block) = layer.parameters.view(entry.name);
    else
      small->parameters.view(entry.block).setConstant(77);
  layer.attention.copy_heads(layer.parameters, small->attention, small->parameters);
  return small;
}

}  // namespace

TEMPLATE_TEST_CASE("a masked head equals a removed one", "", float, double) {
  for (const LayerShape& shape :
       {LayerShape{}, LayerShape{.site = Site::cross, .mask = AttentionMask::none}})
    for (unsigned subset = 0; subset < 32; ++subset) {
      CAPTURE(name_of(shape.site), subset);
      Layer<TestType> layer(shape);
      std::vector<int> kept;
      for (unsigned slot = 0; slot < 5; ++slot)
        if (subset >> slot & 1U)
          kept.push_back(shape.heads[slot]);
        else
          layer.treatment.mask(layer.id(shape.heads[slot]), MaskKind::zero);
      const auto small = smaller(layer, kept);
      CHECK(relative_difference(small->forward(), layer.forward()) < kRounding<TestType>);
    }
}

TEMPLATE_TEST_CASE("a masked head equals a removed one whatever heads share", "", float, double) {
  REQUIRE(rc::check("removal", [] {
    const auto shape = random_shape();
    INFO(describe(shape));
    Layer<TestType> layer(shape);
    std::vector<int> kept;
    for (const int head : shape.heads)
      if (*rc::gen::arbitrary<bool>())
        kept.push_back(head);
      else
        layer.treatment.mask(layer.id(head), MaskKind::zero);
    const auto small = smaller(layer, kept);
    RC_ASSERT(relative_difference(small->forward(), layer.forward()) < kRounding<TestType>);
  }));
}

TEST_CASE("a key-value head goes with the last of its query heads") {
  Layer<double> layer({.encoding = false, .heads = {0, 1, 2, 3, 4, 5}, .group = 3});
  const auto columns = [](const Layer<double>& l, const char* name) {
    return l.layout.at(name).block.cols;
  };
  CHECK(columns(layer, "layer.w_q") == 6 * 3);
  CHECK(columns(layer, "layer.w_k") == 2 * 3);
  const auto fewer = smaller(layer, {1, 3, 5});
  CHECK(columns(*fewer, "layer.w_q") == 3 * 3);
  CHECK(columns(*fewer, "layer.w_k") == 2 * 3);
  const auto last = smaller(*fewer, {3, 5});
  CHECK(columns(*last, "layer.w_v") == 3);
  CHECK(same_bits(last->parameters.view("layer.w_v"),
                  layer.parameters.view("layer.w_v").rightCols(3)));
  CHECK(same_bits(last->parameters.view("layer.b_k"),
                  layer.parameters.view("layer.b_k").rightCols(3)));
  CHECK(smaller(*last, {})->layout.at("layer.w_v").block.cols == 0);
}

TEMPLATE_TEST_CASE("a mean-masked head equals removal with its mean in the bias", "", float,
                   double) {
  Layer<TestType> layer;
  const RowVector<TestType> mean = random_matrix<TestType>(1, 3, 4);
  layer.treatment.mask(layer.id(3), MaskKind::mean, &mean);
  layer.treatment.gate.at(layer.id(3)) = static_cast<TestType>(0.7);
  const auto small = smaller(layer, {0, 2, 5, 6});
  auto folded = layer.parameters.clone();
  layer.attention.fold_into_bias(folded, 3, static_cast<TestType>(0.7), mean);
  small->parameters.view("layer.b_o") = folded.view("layer.b_o");
  CHECK(relative_difference(small->forward(), layer.forward()) < kRounding<TestType>);
}

TEST_CASE("a head that is not there cannot be folded, scored or copied") {
  Layer<double> layer;
  const RowVector<double> mean = random_matrix<double>(1, 3, 4);
  CHECK_THROWS_WITH(layer.attention.fold_into_bias(layer.parameters, 1, 1, mean),
                    ContainsSubstring("decoder_self:1:1"));
  CHECK_THROWS_AS(layer.attention.output_inner_product(layer.parameters, layer.parameters, 4),
                  Error);
  CHECK_THROWS_AS(smaller(layer, {0, 4}), Error);
}
