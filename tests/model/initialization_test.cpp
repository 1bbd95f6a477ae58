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

// Deviation and largest absolute value that each scheme promises of each weight; 0: no bound.
struct Promise {
  double deviation, largest;
};

Promise promise(const std::string& scheme, const ParameterEntry& entry) {
  using Role = ParameterRole;
  const bool embedding =
      entry.role == Role::token_embedding || entry.role == Role::position_embedding;
  if (scheme == "xavier-uniform") {
    if (embedding) return {1 / std::sqrt(40.0), 0};
    // W_Q, W_K, W_V are [40, 60] each, W_O [60, 40], the others as they stand.
    const double bound = std::sqrt(6.0 / static_cast<double>(entry.block.rows + entry.block.cols));
    if (entry.role == Role::query) CHECK(bound == Approx(std::sqrt(6.0 / 100)));
    return {bound / std::sqrt(3.0), bound};
  }
  if (scheme == "gpt2" &&
      (entry.role == Role::attention_output || entry.role == Role::feed_forward_out))
    return {0.02 / std::sqrt(2.0 * kLayers), 0};
  return {0.02, 0};
}

}  // namespace

TEST_CASE("initialization schemes say what they are") {
  std::set<std::string> names;
  for (const auto& entry : initialization_schemes().entries()) {
    CHECK(names.insert(entry.about.name).second);
    CHECK_FALSE(entry.about.definition.empty());
    CHECK_FALSE(entry.about.source.empty());
  }
  CHECK(names == std::set<std::string>{"xavier-uniform", "normal", "gpt2"});
  CHECK_THROWS_WITH(initialization_schemes().at("xavier"), ContainsSubstring("xavier-uniform"));
  CHECK_THROWS_AS(Model<float>(large_config()).initial_parameters("he", 1), Error);
}

TEST_CASE("every scheme draws every parameter from its distribution") {
  const Model<double> model(large_config());
  for (const auto& scheme : initialization_schemes().names()) {
    const auto parameters = model.initial_parameters(scheme, 5);
    for (const auto& entry : model.layout().entries()) {
      CAPTURE(scheme, entry.name);
      const Matrix<double> x = parameters.view(entry.block);
      if (!is_weight(entry.role)) {
        CHECK((x.array() == (entry.role == ParameterRole::norm_gain ? 1.0 : 0.0)).all());
        continue;
      }
      const auto [deviation, largest] = promise(scheme, entry);
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
