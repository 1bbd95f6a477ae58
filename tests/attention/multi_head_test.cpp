#include "attention/multi_head.hpp"

#include "attention/random_shape.hpp"
#include "base/error.hpp"
#include "catch.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

// Self and cross, with and without a mask, with and without a position encoding.
std::vector<LayerShape> shapes() {
  std::vector<LayerShape> all;
  for (const bool encoding : {false, true}) {
    all.push_back({.mask = AttentionMask::causal, .encoding = encoding});
    all.push_back({.site = Site::encoder_self, .mask = AttentionMask::none, .encoding = encoding});
    all.push_back({.site = Site::cross, .mask = AttentionMask::none, .encoding = encoding});
  }
  all.push_back({.queries = {19, 40}});  // longer than any vector register
  for (const Site site : {Site::decoder_self, Site::cross}) {
    const auto mask = site == Site::cross ? AttentionMask::none : AttentionMask::causal;
    all.push_back({.site = site, .mask = mask, .score = "additive", .group = 2});
    all.push_back({.site = site, .mask = mask, .score = "dot", .sharing = Sharing::qk});
    all.push_back(
        {.site = site, .mask = mask, .sharing = Sharing::qkv, .average = AttentionMask::causal});
    all.push_back({.site = site,
                   .mask = mask,
                   .head_width = 1,
                   .score = "additive",
                   .sharing = Sharing::identity});
  }
  return all;
}

template <class Real>
double bound() {
  return std::is_same_v<Real, float> ? 2e-5 : 1e-13;
}

}  // namespace

TEMPLATE_TEST_CASE("attention equals the plain formula", "", float, double) {
  for (const auto& shape : shapes())
    for (const bool treated : {false, true}) {
      CAPTURE(name_of(shape.site), name_of(shape.mask), shape.encoding, treated);
      Layer<TestType> layer(shape);
      if (treated) layer.treat_heads_differently();
      CHECK(relative_difference(layer.forward(), plain_layer(layer).out) < bound<TestType>());
    }
}

TEMPLATE_TEST_CASE("every score function, sharing and grouping equals its formula", "", float,
                   double) {
  REQUIRE(rc::check("formula", [] {
    const auto shape = random_shape();
    INFO(describe(shape));
    Layer<TestType> layer(shape);
    if (*rc::gen::arbitrary<bool>()) layer.treat_heads_differently();
    RC_ASSERT(relative_difference(layer.forward(), plain_layer(layer).out) < bound<TestType>());
  }));
}

TEST_CASE("attention in float is that in double") {
  for (const auto& shape : shapes()) {
    CAPTURE(name_of(shape.site), name_of(shape.mask), shape.encoding);
    Layer<float> narrow(shape);
    Layer<double> wide(shape);
    narrow.treat_heads_differently();
    wide.treat_heads_differently();
    const Matrix<double> d_out = random_matrix<double>(wide.x.rows(), wide.kWidth, 5);
    // Float rounding (6e-8) through three products and a softmax.
    CHECK(relative_difference(narrow.forward(), wide.forward()) < 1e-5);
    const auto d_narrow = narrow.backward(d_out.cast<float>());
    const auto d_wide = wide.backward(d_out);
    CHECK(relative_difference(d_narrow.x, d_wide.x) < 3e-5);
    for (const auto& entry : wide.layout.entries()) {
      CAPTURE(entry.name);
      const auto expected = d_wide.parameters.view(entry.block);
      const auto found = d_narrow.parameters.view(entry.block);
      CHECK((found.template cast<double>() - expected).cwiseAbs().maxCoeff() <
            3e-5 * std::max(1.0, expected.cwiseAbs().maxCoeff()));
    }
  }
}

// Of 8 bits a rounded factor keeps, in two products one after the other.
TEST_CASE("attention with factors in bfloat16 is that in float, coarsely") {
  for (const auto& shape : shapes()) {
    CAPTURE(name_of(shape.site), shape.encoding, name_of(shape.sharing), shape.group);
    Layer<float> exact(shape), coarse(shape);
    coarse.pass.precision = Precision::bfloat16;
    const Matrix<float> d_out = random_matrix<float>(exact.x.rows(), exact.kWidth, 5);
    const Matrix<float> wanted = exact.forward(), found = coarse.forward();
    CHECK_FALSE(same_bits(found, wanted));
    CHECK(relative_difference(found, wanted) < 0.05);
    const auto d_wanted = exact.backward(d_out), d_found = coarse.backward(d_out);
    CHECK(relative_difference(d_found.x, d_wanted.x) < 0.05);
    for (const auto& entry : exact.layout.entries()) {
      CAPTURE(entry.name);
      const auto wanted_block = d_wanted.parameters.view(entry.block);
      CHECK((d_found.parameters.view(entry.block) - wanted_block).cwiseAbs().maxCoeff() <
            0.05F * std::max(1.0F, wanted_block.cwiseAbs().maxCoeff()));
    }
  }
}

// Rule 3.
TEMPLATE_TEST_CASE("heads sum to the layer", "", float, double) {
  for (const auto& shape : shapes()) {
    CAPTURE(name_of(shape.site), name_of(shape.mask), shape.encoding);
    Layer<TestType> layer(shape);
    int gate = 0;
    for (const int head : shape.heads)
      layer.treatment.gate.at(layer.id(head)) = static_cast<TestType>(0.4 * ++gate - 0.8);
    Recorder<TestType> recorder;
    layer.pass.observer = &recorder;
    const Matrix<TestType> out = layer.forward();

    // To what the layer gives without any head: b_O, and the average if it has one.
    LayerShape none = shape;
    none.heads.clear();
    Layer<TestType> emptied(none);
    for (const char* name : {"layer.b_o", "layer.average.w_v", "layer.average.w_o"})
      if (layer.layout.contains(name)) emptied.parameters.view(name) = layer.parameters.view(name);
    Matrix<double> sum = emptied.forward().template cast<double>();
    const auto w_o = layer.parameters.view("layer.w_o");
    for (std::size_t slot = 0; slot < shape.heads.size(); ++slot)
      for (Index b = 0; b < layer.sequences(); ++b) {
        const HeadId id = layer.id(shape.heads[slot]);
        const auto at = static_cast<std::size_t>(b);
        const Matrix<double> context = recorder.seen.at({id, b}).context.template cast<double>();
        sum.middleRows(layer.query_offsets[at], context.rows()) +=
            static_cast<double>(layer.treatment.gate.at(id)) * context *
            w_o.middleRows(static_cast<Index>(slot) * layer.shape.head_width,
                           layer.shape.head_width)
                .template cast<double>();
      }
    CHECK(relative_difference(out, sum) < (std::is_same_v<TestType, float> ? 2e-6 : 1e-14));
  }
}

// What trains does not change when someone looks, and what is seen does not depend on dropout.
TEMPLATE_TEST_CASE("an observer sees heads without dropout, which acts all the same", "", float,
                   double) {
  for (const auto& shape : shapes()) {
    CAPTURE(name_of(shape.site), name_of(shape.mask), shape.encoding);
    Layer<TestType> layer(shape);
    layer.treat_heads_differently();
    Recorder<TestType> without, with;
    layer.pass.observer = &without;
    const Matrix<TestType> undropped = layer.forward();
    layer.pass.pattern_dropout = {0.3, 17, 4};
    layer.pass.observer = nullptr;
    const Matrix<TestType> unobserved = layer.forward();
    CHECK(relative_difference(unobserved, undropped) > 1e-3);
    layer.pass.observer = &with;
    CHECK(same_bits(layer.forward(), unobserved));
    REQUIRE(with.seen.size() == without.seen.size());
    for (const auto& [key, seen] : without.seen) {
      CHECK(same_bits(with.seen.at(key).pattern, seen.pattern));
      CHECK(same_bits(with.seen.at(key).context, seen.context));
    }
  }
}

TEMPLATE_TEST_CASE("an observer sees every present head before its gate", "", float, double) {
  for (const auto& shape : shapes()) {
    CAPTURE(name_of(shape.site), name_of(shape.mask), shape.encoding);
    Layer<TestType> layer(shape);
    const auto plain = plain_layer(layer);  // intact: what heads do of themselves
    layer.treatment.mask(layer.id(2), MaskKind::zero);
    const RowVector<TestType> mean = random_matrix<TestType>(1, shape.head_width, 4);
    layer.treatment.mask(layer.id(3), MaskKind::mean, &mean);
    const Matrix<TestType> unobserved = layer.forward();
    Recorder<TestType> recorder;
    layer.pass.observer = &recorder;
    CHECK(same_bits(layer.forward(), unobserved));

    REQUIRE(recorder.calls == static_cast<int>(shape.heads.size()) * layer.sequences());
    REQUIRE(recorder.seen.size() == static_cast<std::size_t>(recorder.calls));
    for (const auto& [key, seen] : recorder.seen) {
      CAPTURE(to_string(key.first), key.second);
      const auto& expected = plain.heads.at({key.first.head, key.second});
      CHECK(seen.mask == shape.mask);
      CHECK(relative_difference(seen.pattern, expected.pattern) < bound<TestType>());
      CHECK(relative_difference(seen.context, expected.context) < bound<TestType>());
      for (Index i = 0; i < seen.pattern.rows(); ++i) {
        const Index visible = visible_keys(shape.mask, i, seen.pattern.rows(), seen.pattern.cols());
        CHECK(static_cast<double>(seen.pattern.row(i).sum()) == Approx(1).epsilon(1e-6));
        CHECK(seen.pattern.row(i).head(visible).minCoeff() > TestType{0});
        CHECK(
            (seen.pattern.row(i).tail(seen.pattern.cols() - visible).array() == TestType{0}).all());
      }
    }
  }
}

TEST_CASE("an observer sees the uniform pattern of a head that has it") {
  Layer<double> layer;
  layer.treatment.mask(layer.id(5), MaskKind::uniform);
  Recorder<double> recorder;
  layer.pass.observer = &recorder;
  layer.forward();
  const auto& pattern = recorder.seen.at({layer.id(5), 2}).pattern;
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 6; ++j)
      CHECK(pattern(i, j) == (j <= i ? 1 / static_cast<double>(i + 1) : 0));
}

TEMPLATE_TEST_CASE("an emptied layer adds b_O and nothing else", "", float, double) {
  for (const Site site : {Site::decoder_self, Site::cross}) {
    Layer<TestType> layer({.site = site, .mask = AttentionMask::none, .heads = {}});
    CHECK(layer.layout.at("layer.w_q").block.cols == 0);
    Recorder<TestType> recorder;
    layer.pass.observer = &recorder;
    const Matrix<TestType> out = layer.forward();
    for (Index i = 0; i < out.rows(); ++i)
      CHECK(same_bits(out.row(i), layer.parameters.view("layer.b_o")));
    CHECK(recorder.calls == 0);

    const Matrix<TestType> d_out = random_matrix<TestType>(out.rows(), out.cols(), 5);
    const auto gradients = layer.backward(d_out);
    CHECK(gradients.x == Matrix<TestType>::Zero(gradients.x.rows(), gradients.x.cols()));
    CHECK(relative_difference(gradients.parameters.view("layer.b_o"), d_out.colwise().sum()) <
          1e-5);
  }
}

TEST_CASE("all gates at 0 leave b_O and nothing else") {
  Layer<double> layer;
  for (const int head : layer.shape.heads) layer.treatment.mask(layer.id(head), MaskKind::zero);
  const Matrix<double> out = layer.forward();
  for (Index i = 0; i < out.rows(); ++i)
    CHECK(same_bits(out.row(i), layer.parameters.view("layer.b_o")));
}

TEST_CASE("what a pass computes does not depend on what its memory was used for before") {
  Layer<double> used({.queries = {23, 31}});
  used.treat_heads_differently();
  used.pass.gate_gradients = true;
  used.backward(used.forward());

  Layer<double> fresh;
  const Matrix<double> out = fresh.forward();
  const auto gradients = fresh.backward(out);
  Layer<double> again;
  std::swap(again.cache, used.cache);
  std::swap(again.scratch, used.scratch);
  CHECK(same_bits(again.forward(), out));
  const auto same = again.backward(out);
  CHECK(same_bits(same.x, gradients.x));
  for (const auto& entry : fresh.layout.entries())
    CHECK(same_bits(same.parameters.view(entry.block), gradients.parameters.view(entry.block)));
}

TEST_CASE("sequences of a packed batch do not see each other") {
  for (const Site site : {Site::decoder_self, Site::cross}) {
    LayerShape shape{.site = site, .mask = AttentionMask::none};
    Layer<double> packed(shape);
    packed.pass.first_row = 0;
    const Matrix<double> all = packed.forward();
    for (std::size_t b = 0; b < 3; ++b) {
      LayerShape one = shape;
      one.queries = {shape.queries[b]};
      one.keys = {shape.keys[b]};
      Layer<double> alone(one);
      const Index q0 = packed.query_offsets[b];
      alone.x = packed.x.middleRows(q0, shape.queries[b]);
      if (!alone.is_self())
        alone.memory = packed.memory.middleRows(packed.key_offsets[b], shape.keys[b]);
      CHECK(relative_difference(alone.forward(), all.middleRows(q0, shape.queries[b])) < 1e-13);
    }
  }
}

TEST_CASE("pattern dropout does not depend on how a batch is cut or which heads are present") {
  LayerShape shape{.encoding = false, .queries = {4, 6}};
  Layer<double> whole(shape);
  // Heads 3 and 6 are the same but for what dropout does to them.
  for (const char* name : {"w_q", "w_k", "w_v", "b_q", "b_k", "b_v"}) {
    auto values = whole.parameters.view(std::string("layer.") + name);
    values.middleCols(4 * 3, 3) = values.middleCols(2 * 3, 3).eval();
  }
  whole.forward();
  const Matrix<double> undropped = whole.cache.context.view();
  CHECK(relative_difference(undropped.middleCols(4 * 3, 3), undropped.middleCols(2 * 3, 3)) <
        1e-13);
  whole.pass.pattern_dropout = {0.5, 11, 3};
  whole.forward();
  const Matrix<double> context = whole.cache.context.view();
  CHECK(relative_difference(context, undropped) > 0.1);
  CHECK(relative_difference(context.middleCols(4 * 3, 3), context.middleCols(2 * 3, 3)) > 0.1);

  shape.queries = {6};
  shape.heads = {3, 6};
  Layer<double> part(shape);
  whole.attention.copy_heads(whole.parameters, part.attention, part.parameters);
  part.x = whole.x.bottomRows(6);
  part.pass.pattern_dropout = {0.5, 11, 3};
  part.pass.first_row = 4;
  part.forward();
  const Matrix<double> part_context = part.cache.context.view();
  for (const auto& [slot, part_slot] : {std::pair{2, 0}, std::pair{4, 1}})
    CHECK(relative_difference(part_context.middleCols(part_slot * 3, 3),
                              context.bottomRows(6).middleCols(slot * 3, 3)) < 1e-12);
}

TEST_CASE("attention has the parameters it says") {
  const Layer<float> self({.encoding = false});
  const std::int64_t all = 5 * 3;
  CHECK(self.layout.count() == 4 * 7 * all + 3 * all + 7);
  CHECK(self.layout.at("layer.w_k").role == ParameterRole::key);
  CHECK(self.layout.at("layer.w_o").block.rows == all);
  CHECK(self.layout.at("layer.b_v").layer == 1);
  const Layer<float> cross({.site = Site::cross, .encoding = false});
  CHECK(cross.layout.count() == 2 * 7 * all + 2 * 5 * all + 3 * all + 7);
  CHECK(cross.layout.at("layer.w_v").block.rows == 5);
}
