#include "attention/scores/score_function.hpp"

#include <cmath>

#include "attention/layer.hpp"
#include "catch.hpp"

using namespace headcount;
using namespace headcount::test;

TEST_CASE("the score functions that can be named") {
  CHECK(score_functions().names() == std::vector<std::string>{"scaled-dot", "dot", "additive"});
  for (const auto& entry : score_functions().entries()) {
    CAPTURE(entry.about.name);
    ParameterLayout layout;
    AttentionConfig config;
    config.head_width = 4;
    config.heads = {1, 2, 5};
    const auto score = entry.make<double>(config, "layer.self", layout);
    const bool has_parameters = entry.about.name == "additive";
    CHECK(layout.contains("layer.self.score") == has_parameters);
    CHECK(score->parameters().cols == (has_parameters ? 4 : 0));
    CHECK(layout.count() == (has_parameters ? 12 : 0));
  }
}

TEST_CASE("a dot product is a scaled one of longer queries") {
  Layer<double> dot({.encoding = false, .score = "dot"});
  Layer<double> scaled({.encoding = false});
  for (const auto& entry : scaled.layout.entries())
    scaled.parameters.view(entry.block) = dot.parameters.view(entry.name);
  for (const char* name : {"layer.w_q", "layer.b_q"})
    scaled.parameters.view(name) *= std::sqrt(3.0);
  CHECK(relative_difference(scaled.forward(), dot.forward()) < 1e-13);
}

// tanh is odd and bounded: with all of v alike, far keys of either sign score ±K v.
TEST_CASE("additive scores are bounded by their weights") {
  Layer<double> layer({.encoding = false, .heads = {0}, .queries = {2}, .score = "additive"});
  layer.parameters.view("layer.score").setConstant(0.5);
  layer.parameters.view("layer.w_q").setZero();
  layer.parameters.view("layer.b_q").setZero();
  layer.parameters.view("layer.w_k").setZero();
  layer.parameters.view("layer.b_k").setZero();
  layer.parameters.view("layer.w_k").row(0).setConstant(1000);
  layer.x(0, 0) = 1;
  layer.x(1, 0) = -1;
  Recorder<double> recorder;
  layer.pass.observer = &recorder;
  layer.forward();
  const auto& pattern = recorder.seen.at({layer.id(0), 0}).pattern;
  CHECK(std::log(pattern(1, 0) / pattern(1, 1)) == Approx(2 * 3 * 0.5));
}
