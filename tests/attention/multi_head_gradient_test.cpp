// Rule 9 for attention: every gradient against central differences.
#include "attention/layer.hpp"
#include "attention/random_shape.hpp"
#include "catch.hpp"
#include "support/gradient_check.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

// Checks everything a backward pass gives for the loss Σ out ∘ weights.
void check_gradients(Layer<double>& layer) {
  const Matrix<double> weights = random_matrix<double>(layer.x.rows(), layer.kWidth, 50);
  const auto loss = [&] { return layer.forward().cwiseProduct(weights).sum(); };
  layer.pass.gate_gradients = true;
  loss();
  const auto gradients = layer.backward(weights);
  layer.pass.gate_gradients = false;

  CHECK(gradient_error(layer.x, gradients.x, loss) == "");
  if (!layer.is_self()) CHECK(gradient_error(layer.memory, gradients.memory, loss) == "");
  for (const auto& entry : layer.layout.entries()) {
    CAPTURE(entry.name);
    CHECK(gradient_error(layer.parameters.view(entry.block), gradients.parameters.view(entry.block),
                         loss) == "");
  }
  for (const int head : layer.shape.heads) {
    CAPTURE(head);
    Matrix<double> gate(1, 1), sum(1, 1);
    gate(0, 0) = layer.treatment.gate.at(layer.id(head));
    sum(0, 0) = gradients.gates.col(head).sum();
    CHECK(gradient_error(gate, sum, [&] {
            layer.treatment.gate.at(layer.id(head)) = gate(0, 0);
            return loss();
          }) == "");
    layer.treatment.gate.at(layer.id(head)) = gate(0, 0);
  }
}

const LayerShape kCross{.site = Site::cross, .mask = AttentionMask::none};
const LayerShape kOpen{.site = Site::encoder_self, .mask = AttentionMask::none};

}  // namespace

TEST_CASE("attention gradients: plain heads") {
  for (LayerShape shape : {LayerShape{}, kOpen, kCross}) {
    shape.encoding = false;
    CAPTURE(name_of(shape.site), name_of(shape.mask));
    Layer<double> layer(shape);
    check_gradients(layer);
  }
}

TEST_CASE("attention gradients: through positions on vectors and scores") {
  for (const LayerShape& shape : {LayerShape{}, kOpen, kCross}) {
    CAPTURE(name_of(shape.site), name_of(shape.mask));
    Layer<double> layer(shape);
    check_gradients(layer);
  }
}

TEST_CASE("attention gradients: under gates, masks of every kind and pattern dropout") {
  for (const LayerShape& shape : {LayerShape{}, kOpen, kCross}) {
    CAPTURE(name_of(shape.site), name_of(shape.mask));
    Layer<double> layer(shape);
    layer.treat_heads_differently();
    check_gradients(layer);
    layer.pass.pattern_dropout = {0.3, 17, 4};
    layer.pass.first_row = 5;
    check_gradients(layer);
  }
}

TEST_CASE("attention gradients: every score function, sharing and grouping, with averages") {
  REQUIRE(rc::check("gradients", [] {
    const auto shape = random_shape();
    INFO(describe(shape));
    Layer<double> layer(shape);
    if (*rc::gen::arbitrary<bool>()) layer.treat_heads_differently();
    if (*rc::gen::arbitrary<bool>()) layer.pass.pattern_dropout = {0.3, 17, 4};
    check_gradients(layer);
  }));
}

TEST_CASE("gate gradients of any attention are those of each sequence alone") {
  REQUIRE(rc::check("sequences", [] {
    const auto shape = random_shape();
    Layer<double> layer(shape);
    layer.pass.gate_gradients = true;
    const Matrix<double> weights = random_matrix<double>(layer.x.rows(), layer.kWidth, 50);
    layer.forward();
    const auto all = layer.backward(weights);
    for (const int head : shape.heads)
      RC_ASSERT(std::abs(all.gates.col(head).sum() - layer.attention.output_inner_product(
                                                         layer.parameters, all.parameters, head)) <
                1e-10);
    for (std::size_t b = 0; b < shape.queries.size(); ++b) {
      auto one = shape;
      one.queries = {shape.queries[b]};
      one.keys = {shape.keys[b]};
      Layer<double> alone(one);
      alone.pass.gate_gradients = true;
      const Index q0 = layer.query_offsets[b], tq = shape.queries[b];
      alone.x = layer.x.middleRows(q0, tq);
      if (!alone.is_self())
        alone.memory = layer.memory.middleRows(layer.key_offsets[b], shape.keys[b]);
      alone.forward();
      const auto its = alone.backward(weights.middleRows(q0, tq), false);
      RC_ASSERT((its.gates - all.gates.row(static_cast<Index>(b))).cwiseAbs().maxCoeff() < 1e-12);
    }
  }));
}

TEST_CASE("a removed head has no gate gradient") {
  Layer<double> layer{LayerShape{}};
  layer.pass.gate_gradients = true;
  layer.forward();
  const auto gates = layer.backward(random_matrix<double>(layer.x.rows(), layer.kWidth, 50)).gates;
  for (const int absent : {1, 4})
    CHECK(gates.col(absent) == Matrix<double>::Zero(layer.sequences(), 1));
}

TEST_CASE("attention's backward pass adds to parameters and memory, and needs no gradient") {
  Layer<double> layer(kCross);
  layer.treat_heads_differently();
  layer.pass.gate_gradients = true;
  const Matrix<double> d_out = random_matrix<double>(layer.x.rows(), layer.kWidth, 50);
  layer.forward();
  const auto once = layer.backward(d_out);
  auto twice = layer.backward(d_out);
  Matrix<double> d_x(layer.x.rows(), layer.x.cols());
  layer.attention.backward(layer.parameters, layer.input(), layer.pass, layer.cache, layer.scratch,
                           d_out, d_x, twice.memory, &twice.parameters, twice.gates);
  CHECK(same_bits(d_x, once.x));
  CHECK(same_bits(twice.gates, once.gates));
  CHECK(relative_difference(twice.memory, 2 * once.memory) < 1e-13);
  for (const auto& entry : layer.layout.entries())
    CHECK(relative_difference(twice.parameters.view(entry.block),
                              2 * once.parameters.view(entry.block)) < 1e-13);

  const auto without = layer.backward(d_out, false);
  CHECK(same_bits(without.x, once.x));
  CHECK(same_bits(without.memory, once.memory));
  CHECK(same_bits(without.gates, once.gates));
}
