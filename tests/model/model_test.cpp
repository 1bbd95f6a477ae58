#include "model/model.hpp"

#include "base/error.hpp"
#include "catch.hpp"
#include "model/small.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

// Causal and bidirectional, pre- and post-norm, every position encoding.
std::vector<ModelConfig> configs() {
  std::vector<ModelConfig> all;
  for (const auto& positions : position_encodings().names())
    for (const auto norm : {NormPlacement::pre, NormPlacement::post})
      for (const bool causal : {true, false}) {
        auto config = causal ? small_config() : bidirectional(small_config());
        config.positions = positions;
        config.norm = norm;
        all.push_back(config);
      }
  return all;
}

}  // namespace

TEST_CASE("a model in float is that in double") {
  for (auto config : configs())
    for (const auto activation : {Activation::relu, Activation::gelu, Activation::gelu_tanh}) {
      config.activation = activation;
      CAPTURE(config.positions, name_of(config.norm.at(0)), name_of(config.mask),
              name_of(activation));
      SmallModel<float> narrow(config);
      SmallModel<double> wide(config);
      narrow.pass.gate_gradients = wide.pass.gate_gradients = true;
      const auto found = narrow.backward();
      const auto expected = wide.backward();
      // Float rounding (6e-8) through a dozen products and norms.
      CHECK(relative_difference(narrow.workspace.logits.view(), wide.workspace.logits.view()) <
            1e-5);
      CHECK(relative_difference(narrow.workspace.gate_gradients.view(),
                                wide.workspace.gate_gradients.view()) < 1e-4);
      double largest = 0;
      for (Index i = 0; i < expected.size(); ++i)
        largest = std::max(largest, std::abs(expected.data()[i]));
      for (Index i = 0; i < expected.size(); ++i)
        CHECK(std::abs(static_cast<double>(found.data()[i]) - expected.data()[i]) < 1e-4 * largest);
    }
}

TEMPLATE_TEST_CASE("a later token changes nothing before it in a causal model", "", float, double) {
  for (const auto& config : configs()) {
    CAPTURE(config.positions, name_of(config.norm.at(0)), name_of(config.mask));
    SmallModel<TestType> small(config);
    const Matrix<TestType> before = small.logits();
    small.batch.tokens[10] = 7;  // the fifth of the last sequence, which starts at 6
    const Matrix<TestType> after = small.logits();
    const bool causal = config.mask == AttentionMask::causal;
    CHECK(same_bits(after.topRows(6), before.topRows(6)));
    CHECK(same_bits(after.middleRows(6, 4), before.middleRows(6, 4)) == causal);
    for (Index row = 10; row < 14; ++row) CHECK_FALSE(same_bits(after.row(row), before.row(row)));
  }
}

TEMPLATE_TEST_CASE("a sequence's logits do not depend on its neighbours", "", float, double) {
  for (const auto& config : configs()) {
    CAPTURE(config.positions, name_of(config.norm.at(0)), name_of(config.mask));
    SmallModel<TestType> small(config);
    const auto batch = small.batch;
    const Matrix<TestType> all = small.logits();
    for (std::size_t b = 0; b < 3; ++b) {
      small.batch = batch.sequence(b);
      const Index first = batch.offsets[b], length = batch.offsets[b + 1] - first;
      CHECK(relative_difference(small.logits(), all.middleRows(first, length)) <
            kRounding<TestType>);
    }
  }
}

TEST_CASE("a classifier gives the classes of the mean of each sequence's tokens") {
  for (const bool causal : {true, false})
    for (const auto norm : {NormPlacement::pre, NormPlacement::post}) {
      auto config = classifier(causal ? small_config() : bidirectional(small_config()));
      config.norm = norm;
      CAPTURE(causal, name_of(norm));
      SmallModel<double> small(config);
      const Matrix<double> logits = small.logits();
      REQUIRE(logits.rows() == 3);
      REQUIRE(logits.cols() == 3);
      const auto hidden = small.workspace.hidden.view();
      const auto w = small.parameters.view("output.w"), b = small.parameters.view("output.b");
      const Index starts[] = {0, 5, 6, 14};
      for (Index sequence = 0; sequence < 3; ++sequence)
        for (Index c = 0; c < 3; ++c) {
          double expected = b(0, c);
          for (Index d = 0; d < 6; ++d) {
            double mean = 0;
            for (Index i = starts[sequence]; i < starts[sequence + 1]; ++i) mean += hidden(i, d);
            expected +=
                mean / static_cast<double>(starts[sequence + 1] - starts[sequence]) * w(d, c);
          }
          CHECK(logits(sequence, c) == Approx(expected).epsilon(1e-12));
        }
      const auto batch = small.batch;
      for (std::size_t sequence = 0; sequence < 3; ++sequence) {
        small.batch = batch.sequence(sequence);
        CHECK(relative_difference(small.logits(), logits.row(Index(sequence))) < 1e-12);
      }
    }
}

TEST_CASE("a classifier has weights of its own for its classes, and at least two") {
  const Model<float> language(small_config());
  const Model<float> classes(classifier(small_config()));
  CHECK(classes.layout().count() == language.layout().count() + 6 * 3 + 3);
  CHECK(classes.layout().at("output.w").role == ParameterRole::output);
  CHECK(classes.layout().at("output.b").role == ParameterRole::bias);
  for (const Index count : {-1, 1}) {
    auto config = small_config();
    config.classes = count;
    CHECK_THROWS_WITH(Model<float>(config), ContainsSubstring("at least 2 classes"));
  }
}

TEST_CASE("dropout of a shard is that of its rows in the batch") {
  auto config = small_config();
  config.dropout = 0.3;
  config.pattern_dropout = 0.3;
  SmallModel<double> small(config);
  small.pass.training = true;
  small.pass.dropout_seed = 5;
  const Matrix<double> all = small.logits();
  small.batch = small.batch.sequence(2);
  small.pass.first_row = 6;
  CHECK(relative_difference(small.logits(), all.bottomRows(8)) < 1e-12);
  small.pass.step = 1;
  CHECK(relative_difference(small.logits(), all.bottomRows(8)) > 1e-3);
}

TEST_CASE("a model has as many parameters as its formula says") {
  for (const bool tied : {true, false})
    for (const auto norm : {NormPlacement::pre, NormPlacement::post}) {
      auto config = small_config({3, 0, 5}, {2, 2, 4});
      config.tied_output = tied;
      config.norm = norm;
      config.positions = "learned";
      const Index d = 6, f = 7, v = 11, t = 8, layers = 3;
      const Index head_columns = 3 * 2 + 0 * 2 + 5 * 4;
      const Index attention = head_columns * (4 * d + 3) + layers * d;
      const Index rest = layers * (2 * d * f + f + d + 4 * d);
      const Index expected = v * d + t * d + attention + rest +
                             (norm == NormPlacement::pre ? 2 * d : 0) + (tied ? 0 : d * v);
      CHECK(Model<float>(config).layout().count() == expected);
    }
}

TEST_CASE("blocks have the parameters of their parts and no others") {
  const auto names = [](ModelConfig config) {
    const Model<double> model(std::move(config));
    std::vector<std::string> found;
    for (const auto& entry : model.layout().entries())
      if (entry.name.find(".self.") == std::string::npos)
        found.push_back(fmt::format("{} {}", entry.name, entry.block.cols));
    return found;
  };
  auto config = small_config();
  config.norm = std::vector{NormPlacement::post, NormPlacement::none};
  config.residual = std::vector{Residual::scaled_stream, Residual::scaled_sublayer};
  config.feed_forward = std::vector<Index>{0, 7};
  using Names = std::vector<std::string>;
  CHECK(names(config) == Names{"embedding.token 6", "decoder.0.norm_1.gain 6",
                               "decoder.0.norm_1.bias 6", "decoder.0.residual_1.stream_scale 6",
                               "decoder.1.residual_1.sublayer_scale 1",
                               "decoder.1.residual_2.sublayer_scale 1",
                               "decoder.1.feed_forward.w_1 7", "decoder.1.feed_forward.b_1 7",
                               "decoder.1.feed_forward.w_2 6", "decoder.1.feed_forward.b_2 6"});
  config.norm = std::vector{NormPlacement::none, NormPlacement::pre};
  config.norm_kind = NormKind::rms;
  config.residual = Residual::none;
  config.feed_forward = 0;
  CHECK(names(config) ==
        Names{"embedding.token 6", "decoder.1.norm_1.gain 6", "final_norm.gain 6"});
}

TEST_CASE("a norm follows the last layer where that layer is pre-norm") {
  using enum NormPlacement;
  for (const auto below : {pre, post, none})
    for (const auto last : {pre, post, none}) {
      auto config = small_config();
      config.norm = std::vector{below, last};
      CHECK(Model<float>(config).layout().contains("final_norm.gain") == (last == pre));
    }
}

TEST_CASE("layers without residual, norm, feed-forward and heads forget what entered them") {
  auto config = small_config({0, 0});
  config.norm = NormPlacement::none;
  config.residual = Residual::none;
  config.feed_forward = 0;
  SmallModel<double> small(config);
  small.logits();
  const auto hidden = small.workspace.hidden.view();
  const auto bias = small.parameters.view("decoder.1.self.b_o");
  for (Index i = 0; i < hidden.rows(); ++i) CHECK(same_bits(hidden.row(i), bias.row(0)));
}

TEST_CASE("blocks of every kind in float are those in double") {
  for (const auto& config : block_variants()) {
    CAPTURE(blocks_of(config));
    SmallModel<float> narrow(config);
    SmallModel<double> wide(config);
    const auto found = narrow.backward();
    const auto expected = wide.backward();
    CHECK(relative_difference(narrow.workspace.logits.view(), wide.workspace.logits.view()) < 2e-5);
    double largest = 0;
    for (Index i = 0; i < expected.size(); ++i)
      largest = std::max(largest, std::abs(expected.data()[i]));
    for (Index i = 0; i < expected.size(); ++i)
      CHECK(std::abs(static_cast<double>(found.data()[i]) - expected.data()[i]) < 1e-4 * largest);
  }
}

TEST_CASE("parameters have the names of their places") {
  auto config = small_config({3});
  config.positions = "learned";
  config.tied_output = false;
  std::vector<std::string> names;
  const Model<double> model(config);
  for (const auto& entry : model.layout().entries()) names.push_back(entry.name);
  CHECK(names == std::vector<std::string>{"embedding.token",
                                          "embedding.position",
                                          "decoder.0.norm_1.gain",
                                          "decoder.0.norm_1.bias",
                                          "decoder.0.self.w_q",
                                          "decoder.0.self.w_k",
                                          "decoder.0.self.w_v",
                                          "decoder.0.self.b_q",
                                          "decoder.0.self.b_k",
                                          "decoder.0.self.b_v",
                                          "decoder.0.self.w_o",
                                          "decoder.0.self.b_o",
                                          "decoder.0.norm_2.gain",
                                          "decoder.0.norm_2.bias",
                                          "decoder.0.feed_forward.w_1",
                                          "decoder.0.feed_forward.b_1",
                                          "decoder.0.feed_forward.w_2",
                                          "decoder.0.feed_forward.b_2",
                                          "final_norm.gain",
                                          "final_norm.bias",
                                          "output.w"});
  CHECK(Model<double>(bidirectional(small_config())).layout().contains("encoder.1.self.w_q"));
}

TEST_CASE("an emptied model is embeddings, biases and feed-forwards") {
  SmallModel<double> small(small_config({0, 0}));
  CHECK(small.model.heads().total() == 0);
  const Matrix<double> before = small.logits();
  CHECK(before.allFinite());
  small.batch.tokens[6] = 0;  // no token sees another
  const Matrix<double> after = small.logits();
  CHECK(same_bits(after.bottomRows(7), before.bottomRows(7)));
  CHECK_FALSE(same_bits(after.row(6), before.row(6)));
  small.parameters.view("decoder.0.self.b_o")(0, 0) += 1;
  CHECK(relative_difference(small.logits(), after) > 1e-3);
}

TEST_CASE("the variance of the stream is told per layer") {
  SmallModel<double> small;
  small.logits();
  CHECK(small.workspace.activation_variance.empty());
  small.pass.activation_variance = true;
  small.logits();
  REQUIRE(small.workspace.activation_variance.size() == 2);
  const Matrix<double> stream = small.workspace.stream.view();
  CHECK(small.workspace.activation_variance[1] ==
        Approx((stream.array() - stream.mean()).square().mean()).epsilon(1e-12));
}

TEMPLATE_TEST_CASE("a pass that nothing follows gives the same logits and keeps one layer", "",
                   float, double) {
  for (const auto& config : configs()) {
    CAPTURE(config.positions, blocks_of(config), name_of(config.mask));
    SmallModel<TestType> small(config);
    const Matrix<TestType> logits = small.logits();
    REQUIRE(small.workspace.blocks.size() == config.heads.size());
    small.pass.backward_follows = false;
    CHECK(small.logits() == logits);
    CHECK(small.workspace.blocks.size() == 1);
    CHECK_THROWS_WITH(small.backward(), ContainsSubstring("not told of"));
    small.pass.backward_follows = true;
    const auto again = small.backward();
    SmallModel<TestType> fresh(config);
    const auto first = fresh.backward();
    CHECK(std::equal(again.data(), again.data() + again.size(), first.data()));
  }
}

TEST_CASE("an impossible model is refused") {
  const auto refused = [](const auto& spoil) {
    auto config = small_config();
    try {
      spoil(config);
      Model<float>{config};
      return false;
    } catch (const Error& error) {
      return error.code() == ExitCode::bad_data;
    }
  };
  CHECK_FALSE(refused([](ModelConfig&) {}));
  CHECK(refused([](ModelConfig& c) { c.vocabulary = 0; }));
  CHECK(refused([](ModelConfig& c) { c.width = 0; }));
  CHECK(refused([](ModelConfig& c) { c.head_widths[1] = -1; }));
  CHECK(refused([](ModelConfig& c) { c.feed_forward = -1; }));
  CHECK(refused([](ModelConfig& c) { c.feed_forward = std::vector<Index>{7, 7, 7}; }));
  CHECK(refused([](ModelConfig& c) { c.norm = std::vector<NormPlacement>(); }));
  CHECK(refused([](ModelConfig& c) { c.residual = std::vector(3, Residual::none); }));
  CHECK(refused([](ModelConfig& c) { c.longest = 0; }));
  CHECK(refused([](ModelConfig& c) { c.set_heads({}, {2}); }));
  CHECK(refused([](ModelConfig& c) { c.set_heads({3, -1}, {2}); }));
  CHECK(refused([](ModelConfig& c) { c.head_widths = {2}; }));
  CHECK(refused([](ModelConfig& c) { c.head_widths = {2, 2, 2}; }));
  CHECK(refused([](ModelConfig& c) { c.site = Site::cross; }));
  CHECK(refused([](ModelConfig& c) { c.positions = "sinusoid"; }));
  CHECK(refused([](ModelConfig& c) { c.dropout = 1; }));
  CHECK(refused([](ModelConfig& c) { c.pattern_dropout = -0.1; }));
  CHECK(refused([](ModelConfig& c) { c.heads[0] = {0, 3}; }));  // never built
  CHECK(refused([](ModelConfig& c) { c.heads[0] = {1, 0}; }));  // out of order
  CHECK(refused([](ModelConfig& c) { c.heads[1] = {1, 1}; }));  // twice
  CHECK(refused([](ModelConfig& c) { c.heads.pop_back(); }));   // layers of another model
  CHECK(refused([](ModelConfig& c) { c.original.layers(Site::cross) = {3, 3}; }));
  CHECK(refused([](ModelConfig& c) { c.site = Site::encoder_self; }));
}

TEST_CASE("a model refuses tokens and sequences it has no numbers for") {
  SmallModel<float> small;
  small.batch.tokens[2] = 11;
  CHECK_THROWS_WITH(small.logits(), ContainsSubstring("11"));
  small.batch.tokens[2] = -1;
  CHECK_THROWS_AS(small.logits(), Error);
  CHECK_THROWS_AS(small.model.attention(Site::cross, 0), Error);
  CHECK_THROWS_AS(small.model.attention(Site::decoder_self, 2), Error);
}
