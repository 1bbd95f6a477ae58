#include <Eigen/LU>
#include <set>

#include "base/error.hpp"
#include "catch.hpp"
#include "model/model.hpp"
#include "support/matrices.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

constexpr int kLayers = 2;
constexpr Index kWidth = 40;

// Large enough that moments are known to some percent.
ModelConfig large_config() {
  ModelConfig config;
  config.vocabulary = 90;
  config.longest = 70;
  config.width = kWidth;
  config.feed_forward = 80;
  config.set_heads({3, 3}, {20});
  config.positions = "learned";
  config.tied_output = false;
  return config;
}

// A model of the kind that the scheme is made for.
ModelConfig fit_for(const InitializationEntry& scheme, ModelConfig config) {
  if (scheme.residual) config.residual = *scheme.residual;
  if (scheme.norm) config.norm = *scheme.norm;
  return config;
}

// Ten sequences of seven tokens.
struct Sample {
  std::vector<std::int32_t> tokens;
  std::vector<std::int64_t> offsets{0};
  explicit Sample(std::int32_t vocabulary) {
    for (std::int32_t b = 0; b < 10; ++b) {
      for (std::int32_t i = 0; i < 7; ++i) tokens.push_back((5 * b + i * i) % vocabulary);
      offsets.push_back(static_cast<std::int64_t>(tokens.size()));
    }
  }
  PackedTokens packed() const { return {tokens, offsets}; }
};

Parameters<double> initial(const Model<double>& model, const std::string& scheme,
                           std::uint64_t seed = 5) {
  const Sample sample(90);
  return model.initial_parameters(scheme, seed, sample.packed());
}

// Deviation and largest absolute value that each scheme promises of each weight; 0: no bound.
struct Promise {
  double deviation, largest;
};
Promise uniform(double bound) { return {bound / std::sqrt(3.0), bound}; }
Promise normal(double deviation) { return {deviation, 0}; }

Promise promise(const std::string& scheme, const ParameterEntry& entry, bool causal = true) {
  using Role = ParameterRole;
  const double rows = static_cast<double>(entry.block.rows),
               cols = static_cast<double>(entry.block.cols);
  const bool embedding =
      entry.role == Role::token_embedding || entry.role == Role::position_embedding;
  const bool adds = entry.role == Role::attention_output || entry.role == Role::feed_forward_out;
  const double l = entry.layer + 1;
  if (scheme == "normal") return normal(0.02);
  if (scheme == "gpt2") return normal(adds ? 0.02 / std::sqrt(2.0 * kLayers) : 0.02);
  if (scheme == "t-fixup") {
    const double decoder = std::pow(18, -0.25);  // 9 · 2 layers
    if (embedding) return normal(decoder / std::sqrt(40.0));
    const bool scaled = adds || entry.role == Role::value || entry.role == Role::feed_forward_in;
    return uniform(std::sqrt(6 / (rows + cols)) * (!scaled  ? 1
                                                   : causal ? decoder
                                                            : 0.67 * std::pow(2, -0.25)));
  }
  if (embedding) return normal(1 / std::sqrt(40.0));
  // W_Q, W_K, W_V are [40, 60] each, W_O [60, 40], the others as they stand.
  if (entry.role == Role::query) CHECK(rows + cols == 100);
  if (scheme == "xavier-normal") return normal(std::sqrt(2 / (rows + cols)));
  if (scheme == "kaiming")
    return normal((entry.role == Role::feed_forward_out ? 1.53353 : 1) / std::sqrt(rows));
  if (scheme == "orthogonal") return normal(1 / std::sqrt(std::max(rows, cols)));
  const double bound = std::sqrt(6 / (rows + cols));
  if (scheme == "ds-init-bound" && l > 0) return uniform(bound / std::sqrt(l));
  if (scheme == "ds-init-variance" && l > 0) return uniform(bound / std::pow(l, 0.25));
  return uniform(bound);  // of xavier-uniform and what departs from it elsewhere
}

void check_distribution(const Matrix<double>& x, const Promise& promised) {
  const auto [deviation, largest] = promised;
  const double n = static_cast<double>(x.size());
  CHECK(std::abs(x.mean()) < 4.5 * deviation / std::sqrt(n));
  // The standard error of a normal sample's deviation is σ/√2n; of a uniform one it is less.
  const double found = std::sqrt(x.array().square().mean());
  CHECK(std::abs(found - deviation) < 4.5 * deviation / std::sqrt(2 * n));
  const double kurtosis = x.array().pow(4).mean() / std::pow(found, 4);
  if (largest > 0) {
    CHECK(x.cwiseAbs().maxCoeff() <= largest);
    CHECK(x.cwiseAbs().maxCoeff() > 0.98 * largest);
    CHECK(kurtosis == Approx(1.8).margin(0.15));
  } else {
    CHECK(kurtosis == Approx(3).margin(5 * std::sqrt(24 / n)));
  }
}

}  // namespace

TEST_CASE("initialization schemes say what they are") {
  std::set<std::string> names;
  for (const auto& entry : initialization_schemes().entries()) {
    CHECK(names.insert(entry.about.name).second);
    CHECK_FALSE(entry.about.definition.empty());
    CHECK_FALSE(entry.about.source.empty());
  }
  CHECK(names == std::set<std::string>{"xavier-uniform", "xavier-normal", "kaiming", "orthogonal",
                                       "normal", "gpt2", "ds-init-bound", "ds-init-variance",
                                       "t-fixup", "admin", "rezero"});
  CHECK_THROWS_WITH(initialization_schemes().at("xavier"), ContainsSubstring("xavier-uniform"));
  CHECK_THROWS_AS(Model<float>(large_config()).initial_parameters("he", 1), Error);
}

TEST_CASE("every scheme draws every parameter from its distribution") {
  for (const auto& scheme : initialization_schemes().entries())
    for (const bool causal : {true, false}) {
      auto config = fit_for(scheme, large_config());
      if (!causal) {
        config.site = Site::encoder_self;
        config.mask = AttentionMask::none;
        config.set_heads({3, 3}, {20});
      }
      const Model<double> model(config);
      const auto parameters = initial(model, scheme.about.name);
      for (const auto& entry : model.layout().entries()) {
        CAPTURE(scheme.about.name, causal, entry.name);
        const Matrix<double> x = parameters.view(entry.block);
        if (is_weight(entry.role))
          check_distribution(x, promise(scheme.about.name, entry, causal));
        else if (entry.role == ParameterRole::sublayer_scale)
          CHECK((x.array() == (scheme.about.name == "rezero" ? 0.0 : 1.0)).all());
        else if (entry.role != ParameterRole::stream_scale || !scheme.stream_scale)
          CHECK((x.array() == (entry.role == ParameterRole::bias ? 0.0 : 1.0)).all());
      }
    }
}

TEST_CASE("what is scaled starts at 1 where no scheme says otherwise") {
  for (const auto residual : {Residual::scaled_stream, Residual::scaled_sublayer})
    for (const auto& scheme : initialization_schemes().entries()) {
      if (scheme.residual) continue;
      auto config = large_config();
      config.residual = residual;
      const Model<double> model(config);
      const auto parameters = initial(model, scheme.about.name);
      for (const auto& entry : model.layout().entries())
        if (entry.name.find("_scale") != std::string::npos)
          CHECK((parameters.view(entry.block).array() == 1).all());
    }
}

TEST_CASE("the gain of kaiming is √2 of relu and keeps the second moment through gelu") {
  auto config = large_config();
  const auto w_2 = [&](Activation activation) -> Matrix<double> {
    config.activation = activation;
    return initial(Model<double>(config), "kaiming").view("decoder.1.feed_forward.w_2");
  };
  const auto relu = w_2(Activation::relu);
  check_distribution(relu, normal(std::sqrt(2.0 / 80)));
  // E[(z Φ(z))²] = 0.42522 by the trapezoidal rule over 2e5 points of [-12, 12].
  CHECK(relative_difference(w_2(Activation::gelu), relu * std::sqrt(0.5 / 0.4252214826)) < 1e-9);
  CHECK(same_bits(w_2(Activation::gelu_tanh), w_2(Activation::gelu)));
}

TEST_CASE("the two readings of depth-scaled initialization, layer by layer") {
  auto config = large_config();
  config.set_heads({3, 3, 3, 3}, {20});
  const Model<double> model(config);
  const auto plain = initial(model, "xavier-uniform"), bound = initial(model, "ds-init-bound"),
             variance = initial(model, "ds-init-variance");
  // 1/√l and l^-¼ of l = 1, 2, 3, 4
  const double bounds[] = {1, 0.7071067811865475, 0.5773502691896258, 0.5};
  const double fourths[] = {1, 0.8408964152537145, 0.7598356856515925, 0.7071067811865475};
  for (const auto& entry : model.layout().entries()) {
    CAPTURE(entry.name);
    const bool scaled = is_weight(entry.role) && entry.layer >= 0;
    const Matrix<double> x = plain.view(entry.block);
    const auto l = static_cast<std::size_t>(std::max(entry.layer, 0));
    const Matrix<double> by_bound = x * (scaled ? bounds[l] : 1),
                         by_variance = x * (scaled ? fourths[l] : 1);
    CHECK(relative_difference(bound.view(entry.block), by_bound) < 1e-14);
    CHECK(relative_difference(variance.view(entry.block), by_variance) < 1e-14);
    if (entry.name == "decoder.3.self.w_k") {
      check_distribution(bound.view(entry.block), uniform(std::sqrt(6.0 / 100) / 2));
      check_distribution(variance.view(entry.block), uniform(std::sqrt(6.0 / 100 / 2)));
    }
  }
}

// Each head's own: as wide as what it maps, however many heads stand beside it.
TEST_CASE("the weights of additive scores start out as a map of one head's columns") {
  for (const int heads : {1, 200}) {
    CAPTURE(heads);
    auto config = large_config();
    config.set_heads({heads}, {50});
    config.score = "additive";
    const Model<double> model(config);
    const Matrix<double> weights =
        model.initial_parameters("xavier-uniform", 5).view("decoder.0.self.score");
    REQUIRE(weights.rows() == heads);
    REQUIRE(weights.cols() == 50);
    const double bound = std::sqrt(6.0 / 51);
    CHECK(weights.cwiseAbs().maxCoeff() <= bound);
    CHECK(weights.cwiseAbs().maxCoeff() > 0.8 * bound);
    CHECK(std::abs(weights.mean()) < 4.5 * bound / std::sqrt(3.0 * 50 * heads));
  }
}

TEMPLATE_TEST_CASE("orthogonal weights have orthonormal rows or columns", "", float, double) {
  const Model<TestType> model(large_config());
  const auto parameters = model.initial_parameters("orthogonal", 3);
  int checked = 0;
  for (const auto& entry : model.layout().entries()) {
    if (!is_weight(entry.role) || is_embedding(entry.role)) continue;
    CAPTURE(entry.name);
    const Matrix<double> w = parameters.view(entry.block).template cast<double>();
    const Matrix<double> gram = w.rows() <= w.cols() ? Matrix<double>(w * w.transpose())
                                                     : Matrix<double>(w.transpose() * w);
    const Matrix<double> one = Matrix<double>::Identity(gram.rows(), gram.cols());
    CHECK(relative_difference(gram, one) < (std::is_same_v<TestType, float> ? 1e-6 : 1e-14));
    ++checked;
  }
  CHECK(checked == 2 * 6 + 1);
}

TEST_CASE("orthogonal weights point anywhere") {
  // The first entry of a uniform direction in 6 dimensions has mean 0 and mean square 1/6; the sign
  // of a determinant is as often this as that.
  auto config = large_config();
  config.width = 6;
  config.set_heads({3}, {2});
  const Model<double> model(config);
  double sum = 0, squares = 0;
  int positive = 0;
  constexpr int kDraws = 1000;
  for (int seed = 0; seed < kDraws; ++seed) {
    const auto parameters =
        model.initial_parameters("orthogonal", static_cast<std::uint64_t>(seed));
    const Eigen::Matrix<double, 6, 6> w = parameters.view("decoder.0.self.w_o");
    sum += w(0, 0);
    squares += w(0, 0) * w(0, 0);
    positive += w.determinant() > 0;
  }
  CHECK(std::abs(sum / kDraws) < 4.5 / std::sqrt(6.0 * kDraws));
  CHECK(squares / kDraws == Approx(1.0 / 6).margin(4.5 * std::sqrt(5.0 / 144 / kDraws)));
  CHECK(std::abs(positive - kDraws / 2) < 4.5 * std::sqrt(kDraws / 4.0));
}

TEST_CASE("admin scales the stream by what stands in it, worked by hand") {
  const auto& admin = initialization_schemes().at("admin");
  const std::vector<double> variances{4, 5, 7};
  CHECK(admin.stream_scale({variances.data(), 1}) == 1);
  CHECK(admin.stream_scale({variances.data(), 2}) == 3);
  CHECK(admin.stream_scale({variances.data(), 3}) == 4);

  // Without heads an attention sublayer gives its bias, 0; the feed-forward of layer 0 sees the
  // normed embeddings.
  auto config = fit_for(admin, large_config());
  config.set_heads({0, 0}, {20});
  config.positions = "none";
  config.activation = Activation::relu;
  const Model<double> model(config);
  const auto parameters = initial(model, "admin");
  const Sample sample(90);
  const auto table = parameters.view("embedding.token");
  Matrix<double> x(70, kWidth);
  for (Index i = 0; i < 70; ++i)
    x.row(i) = table.row(sample.tokens[static_cast<std::size_t>(i)]) * std::sqrt(40.0);
  const auto variance_of = [](const Matrix<double>& m) {
    return (m.array() - m.mean()).square().mean();
  };
  const double embeddings = variance_of(x);
  for (Index i = 0; i < 70; ++i) {
    const double mean = x.row(i).mean(), variance = (x.row(i).array() - mean).square().mean();
    x.row(i) = ((x.row(i).array() - mean) / std::sqrt(variance + kNormEpsilon)).matrix();
  }
  const Matrix<double> hidden = (x * parameters.view("decoder.0.feed_forward.w_1")).cwiseMax(0);
  const double fed = variance_of(hidden * parameters.view("decoder.0.feed_forward.w_2"));
  const auto omega = [&](const char* name) {
    const auto values = parameters.view(name);
    CHECK((values.array() == values(0, 0)).all());
    return values(0, 0);
  };
  CHECK(omega("decoder.0.residual_1.stream_scale") == 1);
  CHECK(omega("decoder.0.residual_2.stream_scale") == Approx(std::sqrt(embeddings)).epsilon(1e-4));
  CHECK(omega("decoder.1.residual_1.stream_scale") ==
        Approx(std::sqrt(embeddings + fed)).epsilon(1e-4));
  CHECK(omega("decoder.1.residual_2.stream_scale") ==
        omega("decoder.1.residual_1.stream_scale"));  // attention gave 0
}

TEST_CASE("admin profiles every sublayer that is there, and nothing but the data moves ω") {
  const auto& admin = initialization_schemes().at("admin");
  auto config = fit_for(admin, large_config());
  config.feed_forward = std::vector<Index>{0, 80};
  const Model<double> model(config);
  const auto parameters = initial(model, "admin");
  const auto omega = [&](const char* name) { return parameters.view(name)(0, 0); };
  CHECK_FALSE(model.layout().contains("decoder.0.residual_2.stream_scale"));
  CHECK(omega("decoder.0.residual_1.stream_scale") == 1);
  CHECK(omega("decoder.1.residual_1.stream_scale") > 1);
  CHECK(omega("decoder.1.residual_2.stream_scale") > omega("decoder.1.residual_1.stream_scale"));

  const auto again = initial(model, "admin");
  const auto plain = initial(model, "xavier-uniform");
  const std::vector<std::int32_t> tokens{1, 2, 3};
  const std::vector<std::int64_t> offsets{0, 3};
  const auto other = model.initial_parameters("admin", 5, {tokens, offsets});
  for (const auto& entry : model.layout().entries()) {
    CAPTURE(entry.name);
    const auto x = parameters.view(entry.block);
    CHECK(same_bits(again.view(entry.block), x));
    const bool profiled = entry.role == ParameterRole::stream_scale && entry.layer > 0;
    CHECK(same_bits(plain.view(entry.block), x) != profiled);
    CHECK(same_bits(other.view(entry.block), x) != profiled);
  }
  CHECK_THROWS_WITH(model.initial_parameters("admin", 5), ContainsSubstring("needs data"));
}

TEST_CASE("under rezero a model starts as the identity on its stream") {
  for (const auto norm : {NormPlacement::none, NormPlacement::pre}) {
    auto config = fit_for(initialization_schemes().at("rezero"), large_config());
    config.norm = std::vector{norm, NormPlacement::none};
    config.positions = "none";
    const Model<double> model(config);
    const auto parameters = initial(model, "rezero");
    const auto treatment = HeadTreatment<double>::intact(model.heads());
    const Sample sample(90);
    ModelPass<double> pass;
    pass.treatment = &treatment;
    ModelWorkspace<double> workspace;
    model.forward(parameters, sample.packed(), pass, workspace);
    const auto table = parameters.view("embedding.token");
    const auto hidden = workspace.hidden.view();
    for (Index i = 0; i < hidden.rows(); ++i) {
      const Matrix<double> entered =
          table.row(sample.tokens[static_cast<std::size_t>(i)]) * std::sqrt(40.0);
      CHECK((hidden.row(i).array() == entered.array()).all());
    }
  }
}

TEST_CASE("schemes for one kind of model refuse the others") {
  const Sample sample(90);
  const auto refused = [&](const char* scheme, const auto& change) {
    auto config = large_config();
    change(config);
    const Model<double> model(config);
    try {
      model.initial_parameters(scheme, 1, sample.packed());
      return std::string("not refused");
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::bad_data);
      return std::string(error.what());
    }
  };
  CHECK_THAT(refused("rezero", [](ModelConfig&) {}), ContainsSubstring("scaled-sublayer"));
  CHECK_THAT(refused("rezero",
                     [](ModelConfig& c) {
                       c.residual = std::vector{Residual::scaled_sublayer, Residual::plain};
                     }),
             ContainsSubstring("in every layer"));
  CHECK(refused("rezero", [](ModelConfig& c) { c.residual = Residual::scaled_sublayer; }) ==
        "not refused");
  CHECK_THAT(refused("admin", [](ModelConfig& c) { c.norm = NormPlacement::post; }),
             ContainsSubstring("scaled-stream"));
  CHECK_THAT(refused("admin", [](ModelConfig& c) { c.residual = Residual::scaled_stream; }),
             ContainsSubstring("needs model.norm = post"));
}

TEST_CASE("a parameter that two models share starts out the same in both") {
  auto other = large_config();
  other.set_heads({3, 1, 2}, {20, 20, 7});
  other.tied_output = true;
  other.norm = NormPlacement::post;
  const Model<double> a(large_config()), b(other);
  for (const auto& scheme : {"normal", "xavier-uniform"}) {
    const auto x = a.initial_parameters(scheme, 8), y = b.initial_parameters(scheme, 8);
    for (const auto* name : {"embedding.token", "embedding.position", "decoder.0.self.w_q",
                             "decoder.0.self.w_o", "decoder.1.feed_forward.w_1"}) {
      CAPTURE(scheme, name);
      CHECK(same_bits(x.view(name), y.view(name)));
    }
  }
}

TEST_CASE("initial parameters follow from scheme and seed, in float as in double") {
  const Model<double> model(large_config());
  const auto x = model.initial_parameters("normal", 8);
  const Model<double> same(large_config());
  const Model<float> single(large_config());
  const auto again = same.initial_parameters("normal", 8);
  const auto other = model.initial_parameters("normal", 9);
  const auto narrow = single.initial_parameters("normal", 8);
  std::set<double> firsts;
  int weights = 0;
  for (const auto& entry : model.layout().entries()) {
    CAPTURE(entry.name);
    CHECK(same_bits(again.view(entry.name), x.view(entry.name)));
    CHECK(same_bits(narrow.view(entry.name), x.view(entry.name).cast<float>().eval()));
    CHECK(same_bits(other.view(entry.name), x.view(entry.name)) != is_weight(entry.role));
    if (!is_weight(entry.role)) continue;
    ++weights;
    firsts.insert(x.view(entry.name)(0, 0));
  }
  CHECK(firsts.size() == static_cast<std::size_t>(weights));  // streams of their own
}
