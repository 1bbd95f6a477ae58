#include "run/work.hpp"

#include <rapidcheck.h>

#include "catch.hpp"
#include "model/flops.hpp"

namespace headcount {
namespace {

ModelConfig config_of(const std::vector<int>& heads, const std::vector<Index>& widths) {
  ModelConfig config;
  config.vocabulary = 10;
  config.longest = 3;
  config.width = 4;
  config.feed_forward = 8;
  config.set_heads(heads, widths);
  return config;
}

// D = 4, two heads of width 2, F = 8, V = 10.
ModelShape one_layer() { return ModelShape::of(config_of({2}, {2})); }

// Two sequences of 3 tokens: N = 6, Σ T² = 18.
constexpr BatchShape kBatch{2, 6, 18, 6};

TEST_CASE("a model's parameters are counted as its layout counts them") {
  REQUIRE(rc::check("parameters", [] {
    const int layers = *rc::gen::inRange(1, 4);
    auto heads = *rc::gen::container<std::vector<int>>(static_cast<std::size_t>(layers),
                                                       rc::gen::inRange(0, 5));
    const int shared = *rc::gen::inRange(0, 4);
    for (int& count : heads) count *= std::max(shared, 1);
    const auto widths = *rc::gen::container<std::vector<int>>(static_cast<std::size_t>(layers),
                                                              rc::gen::inRange(1, 9));
    auto config = config_of(heads, std::vector<Index>(widths.begin(), widths.end()));
    for (auto& width : config.head_widths) width *= 2;  // rotary turns pairs
    config.vocabulary = *rc::gen::inRange(1, 50);
    config.longest = *rc::gen::inRange(1, 40);
    config.width = 2 * *rc::gen::inRange(1, 20);
    const auto each = [layers]<class T>(const rc::Gen<T>& one) {
      return *rc::gen::container<std::vector<T>>(static_cast<std::size_t>(layers), one);
    };
    config.feed_forward = each(rc::gen::element<Index>(0, 1, 8, 29));
    config.tied_output = *rc::gen::arbitrary<bool>();
    config.norm =
        each(rc::gen::element(NormPlacement::pre, NormPlacement::post, NormPlacement::none));
    config.norm_kind = *rc::gen::element(NormKind::layer, NormKind::rms);
    config.residual = each(rc::gen::element(Residual::plain, Residual::none,
                                            Residual::scaled_stream, Residual::scaled_sublayer));
    config.positions = *rc::gen::elementOf(position_encodings().names());
    config.key_value_heads = shared;
    if (shared == 0) config.sharing = *rc::gen::element(Sharing::none, Sharing::qk, Sharing::qkv);
    config.score = *rc::gen::elementOf(score_functions().names());
    config.average = *rc::gen::arbitrary<bool>();
    config.relative_distance = *rc::gen::inRange(1, 6);
    config.classes = *rc::gen::element(0, 2, 5);
    const Model<float> model(config);
    RC_ASSERT(ModelShape::of(config).parameters() == static_cast<double>(model.layout().count()));
  }));
}

TEST_CASE("arithmetic of a forward pass, by hand") {
  const auto work = forward_work(one_layer(), kBatch);
  // 2·6·4·12 for queries, keys and values; 2·6·4·4 for W_O; 2·(2·6·4·8) between; 2·6·4·10 logits
  CHECK(work[Feature::product_flops] == 576 + 192 + 768 + 480);
  CHECK(work[Feature::products] == 5);
  // scores and contexts of two heads of width 2, 1 + 2 + 3 visible pairs in 2 sequences:
  // 2·(2·12·2)·2
  CHECK(work[Feature::head_flops] == 192);
  CHECK(work.flops() == 2016 + 192);
  CHECK(work[Feature::slices] == 4);
  CHECK(work[Feature::pattern_rows] == 12);
  // 1 + 2 + 3 visible keys in 2 sequences under 2 heads, and 10 logits of 6 tokens
  CHECK(work[Feature::exponentials] == 24 + 60);
  CHECK(work[Feature::error_functions] == 6 * 8);
  CHECK(work[Feature::random_numbers] == 0);
}

TEST_CASE("the arithmetic of a forward pass is what the model says it is") {
  auto config = config_of({2, 3}, {2, 4});
  const std::vector<std::int64_t> offsets{0, 3, 6};
  for (const auto& positions : position_encodings().names())
    for (const auto mask : {AttentionMask::causal, AttentionMask::none}) {
      CAPTURE(positions, name_of(mask));
      config.positions = positions;
      config.mask = mask;
      CHECK(forward_work(ModelShape::of(config), kBatch).flops() == forward_flops(config, offsets));
    }
}

TEST_CASE("attention of other kinds has the arithmetic that the model says it has") {
  const std::vector<std::int64_t> offsets{0, 3, 6};
  const auto plain = config_of({2, 4}, {2, 1});
  const auto with = [&](const auto& change) {
    auto config = plain;
    change(config);
    const auto work = forward_work(ModelShape::of(config), kBatch);
    CHECK(work.flops() == forward_flops(config, offsets));
    return work;
  };
  const auto usual = with([](ModelConfig&) {});
  CHECK(usual[Feature::tangents] == 0);
  with([](ModelConfig& c) { c.key_value_heads = 2; });
  with([](ModelConfig& c) { c.sharing = Sharing::qk; });
  with([](ModelConfig& c) { c.sharing = Sharing::identity; });
  // a pair of products in both layers
  CHECK(with([](ModelConfig& c) { c.average = true; })[Feature::products] ==
        usual[Feature::products] + 4);
  auto config = plain;
  config.score = "additive";
  const auto shape = ModelShape::of(config);
  // 4 columns in both layers, 1 + 2 + 3 visible pairs in 2 sequences; twice again backward
  CHECK(forward_work(shape, kBatch)[Feature::tangents] == 2 * 4 * 12);
  CHECK(backward_work(shape, kBatch, {}, true)[Feature::tangents] == 2 * 2 * 4 * 12);
}

TEST_CASE("heads of keys and values go when the last that uses them goes") {
  auto config = config_of({4}, {1});
  config.key_value_heads = 2;
  const auto shape = ModelShape::of(config);
  CHECK(shape.layers[0].key_value_heads == 2);
  CHECK(shape.layers[0].group == 2);
  CHECK(shape.without(0).layers[0].key_value_heads == 2);
  CHECK(shape.without(0.5).layers[0].key_value_heads == 2 * 0.75);  // both gone: a quarter
  CHECK(shape.without(1).layers[0].key_value_heads == 0);
  config.heads[0] = {0, 3};
  CHECK(ModelShape::of(config).layers[0].key_value_heads == 2);
  config.heads[0] = {2, 3};
  CHECK(ModelShape::of(config).layers[0].key_value_heads == 1);
}

TEST_CASE("work is that of the parts a layer has") {
  auto config = config_of({2, 2}, {2, 2});
  const auto work = [&](bool training) {
    const auto shape = ModelShape::of(config);
    return training ? backward_work(shape, kBatch, {}, true) : forward_work(shape, kBatch);
  };
  const auto forward = work(false), backward = work(true);
  const std::vector<std::int64_t> offsets{0, 3, 6};
  config.feed_forward = std::vector<Index>{0, 8};
  // Without the two products of layer 0, 2·6·4·8 each, their activation, and what surrounds them.
  CHECK(work(false)[Feature::products] == forward[Feature::products] - 2);
  CHECK(work(false).flops() == forward.flops() - 768);
  CHECK(work(false).flops() == forward_flops(config, offsets));
  CHECK(work(false)[Feature::error_functions] == 6 * 8);
  CHECK(work(false)[Feature::elements] == forward[Feature::elements] - 6 * (4 * 4 + 8 + 4));
  CHECK(work(true).flops() == backward.flops() - 2 * 768);
  CHECK(work(true)[Feature::products] == backward[Feature::products] - 4);
  config.dropout = 0.1;
  CHECK(forward_work(ModelShape::of(config), kBatch, {}, true)[Feature::random_numbers] ==
        (1 + 2 + 1) * 6 * 4);

  // A norm costs what it visits, what is scaled is visited again.
  config = config_of({2, 2}, {2, 2});
  const auto elements = [&](bool training) { return work(training)[Feature::elements]; };
  const double all = elements(false), all_back = elements(true);
  config.norm_kind = NormKind::rms;
  CHECK(elements(false) == all - 5 * 6 * 4);
  CHECK(elements(true) == all_back - 5 * 6 * 4);
  config.norm_kind = NormKind::layer;
  config.norm = NormPlacement::none;
  CHECK(elements(false) == all - (4 + 1) * 2 * 6 * 4);
  for (const auto residual : {Residual::scaled_stream, Residual::scaled_sublayer}) {
    config.norm = NormPlacement::pre;
    config.residual = residual;
    CHECK(elements(false) == all + 4 * 2 * 6 * 4);
    CHECK(elements(true) > all_back);
  }
}

TEST_CASE("a classifier has one row of logits a sequence") {
  auto config = config_of({2, 3}, {2, 5});
  config.classes = 7;
  const auto shape = ModelShape::of(config);
  const BatchShape batch{2, 6, 18, 2};
  const std::vector<std::int64_t> offsets{0, 3, 6};
  CHECK(forward_work(shape, batch).flops() == forward_flops(config, offsets));
  const auto training = backward_work(shape, batch, {}, true);
  CHECK(training[Feature::product_flops] == 2 * forward_work(shape, batch)[Feature::product_flops]);
  // Of softmax: 1 + 2 + 3 keys of 2 sequences under 5 heads, and 7 classes of 2 sequences.
  CHECK(forward_work(shape, batch)[Feature::exponentials] == 60 + 14);
}

TEST_CASE("a backward pass has twice the products with parameters, once without") {
  const auto forward = forward_work(one_layer(), kBatch);
  const auto training = backward_work(one_layer(), kBatch, {}, true);
  const auto activations = backward_work(one_layer(), kBatch, {}, false);
  CHECK(training[Feature::product_flops] == 2 * forward[Feature::product_flops]);
  // Without, the gradient ends at the gates of the lowest layer: not 2·6·4·12 to its input.
  CHECK(activations[Feature::product_flops] == forward[Feature::product_flops] - 576);
  // scores again, then d_values, d_pattern, d_queries, d_keys
  CHECK(training[Feature::head_flops] == 2.5 * forward[Feature::head_flops]);
  CHECK(activations[Feature::head_flops] == 0);
  const auto two = ModelShape::of(config_of({2, 2}, {2, 2}));
  CHECK(backward_work(two, kBatch, {}, false)[Feature::head_flops] ==
        backward_work(two, kBatch, {}, true)[Feature::head_flops] / 2);
}

TEST_CASE("masked heads attend no more, unless observed, and removed ones have no products") {
  const auto all = forward_work(one_layer(), kBatch);
  const auto half = forward_work(one_layer(), kBatch, {0.5});
  CHECK(half[Feature::head_flops] == all[Feature::head_flops] / 2);
  CHECK(half[Feature::product_flops] == all[Feature::product_flops]);
  CHECK(forward_work(one_layer(), kBatch, {0.5, true})[Feature::head_flops] ==
        all[Feature::head_flops]);
  const auto removed = forward_work(one_layer().without(0.5), kBatch);
  CHECK(removed[Feature::head_flops] == all[Feature::head_flops] / 2);
  CHECK(removed[Feature::product_flops] == 2016 - (576 + 192) / 2);
  CHECK(forward_work(one_layer().without(1), kBatch)[Feature::products] == 3);
}

TEST_CASE("a training step sweeps over the parameters for every shard, and updates them once") {
  const auto shape = one_layer();
  const double parameters = shape.parameters();
  const auto work = step_work(shape, {kBatch, 2, 1e9});
  CHECK(work[Feature::updates] == parameters);
  CHECK(work[Feature::parameter_elements] == (2 + 3 * 1 + 1) * parameters);
  CHECK(work[Feature::steps] == 1);
  CHECK(work[Feature::products] == 2 * (5 + 10));
  CHECK(work.flops() == 3 * 2016 + 3.5 * 192);  // whatever the shards
  const auto half = step_work(shape, {kBatch, 2, 1e9, Precision::bfloat16});
  CHECK(half[Feature::product_flops] == 0);
  CHECK(half[Feature::bfloat16_flops] == 3 * 2016);
  CHECK(half.flops() == work.flops());
  CHECK(step_work(shape, {kBatch, 8, 1e9})[Feature::products] == 2 * (5 + 10));
}

TEST_CASE("a pass over examples is cut into batches as the evaluator cuts it") {
  const BatchShape examples{5, 15, 45, 15};                   // 5 of 3 tokens
  const auto work = pass_work(one_layer(), examples, {}, 7);  // 2 a batch
  CHECK(work[Feature::products] == 3 * 5);
  CHECK(work.flops() == Approx(2.5 * (2016 + 192)));
  CHECK(pass_work(one_layer(), {}).flops() == 0);
}

TEST_CASE("ablations run each layer's heads together through the layers above") {
  const auto shape = ModelShape::of(config_of({2, 3}, {2, 2}));
  // Sequences of 3 tokens in one batch: each layer's heads fit into 18 tokens, or one by one.
  const auto together = ablation_work(shape, kBatch, {}, 18);
  const auto forward = forward_work(shape, kBatch);
  // A run of heads of layer 0: what lies between there, a layer, logits: 2 + 4 + 1; of layer 1: 2 +
  // 1
  CHECK(together[Feature::products] == forward[Feature::products] + 7 + 3 + 5);
  CHECK(ablation_work(shape, kBatch, {}, 6)[Feature::products] ==
        forward[Feature::products] + 2 * 7 + 3 * 3 + 5);
  // Layer 1 attends again without each of two heads of layer 0: scores and contexts of 3 heads.
  CHECK(together[Feature::head_flops] == forward[Feature::head_flops] + 2 * 3 * 96);
  CHECK(together[Feature::error_functions] == 6 * 8 * (2 + 2 * 2 + 3));
  CHECK(together[Feature::exponentials] == forward[Feature::exponentials] + 5 * 60 + 2 * 3 * 12);
  CHECK(ablation_work(shape.without(1), kBatch).flops() ==
        pass_work(shape.without(1), kBatch).flops());
}

TEST_CASE("dropout draws for every entry it may drop") {
  auto config = config_of({2}, {2});
  config.dropout = 0.1;
  const auto stream = forward_work(ModelShape::of(config), kBatch, {}, true);
  CHECK(stream[Feature::random_numbers] == 3 * 6 * 4);  // embeddings and two sublayers
  config.pattern_dropout = 0.1;
  const auto both = forward_work(ModelShape::of(config), kBatch, {}, true);
  CHECK(both[Feature::random_numbers] == 3 * 6 * 4 + 12 * 2);
  CHECK(forward_work(ModelShape::of(config), kBatch)[Feature::random_numbers] == 0);
}

TEST_CASE("the mask decides how many keys an entropy sees") {
  auto config = config_of({2}, {2});
  CHECK(observation_work("entropy", ModelShape::of(config), kBatch)[Feature::logarithms] == 24);
  config.mask = AttentionMask::none;
  CHECK(observation_work("entropy", ModelShape::of(config), kBatch)[Feature::logarithms] == 36);
  CHECK(observation_work("distance", ModelShape::of(config), kBatch)[Feature::logarithms] == 0);
}

}  // namespace
}  // namespace headcount
