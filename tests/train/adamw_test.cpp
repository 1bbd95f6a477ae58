#include "train/adamw.hpp"

#include <cmath>
#include <cstring>
#include <map>

#include "catch.hpp"
#include "math/random.hpp"

namespace headcount {
namespace {

ThreadTeam team(1);

ParameterLayout small_layout() {
  ParameterLayout layout;
  layout.add("w", ParameterRole::query, 0, 1, 1);
  layout.add("b", ParameterRole::bias, 0, 1, 1);
  return layout;
}

TEST_CASE("two steps of AdamW worked by hand") {
  // β₁ = ½, β₂ = ¾, ε = ½, λ = ¼, η = 0.1; gradients 1.5, then -0.5.
  //   t = 1: m̂ = 1.5, v̂ = 2.25:         m̂ / (√v̂ + ε) = 0.75
  //   t = 2: m = 0.5·0.75 - 0.5·0.5 = 0.125,           m̂ = 0.125 / 0.75 = 1/6
  //          v = 0.75·0.5625 + 0.25·0.25 = 0.484375,   v̂ = 0.484375 / 0.4375 = 31/28
  const auto layout = small_layout();
  AdamW<double> adamw({0.5, 0.75, 0.5, 0.25}, layout);
  Parameters<double> parameters(layout), gradient(layout);
  parameters.view("w")(0, 0) = parameters.view("b")(0, 0) = 2;

  gradient.view("w")(0, 0) = gradient.view("b")(0, 0) = 1.5;
  adamw.update(parameters, gradient, 1, 0.1, 1, team);
  CHECK(parameters.view("w")(0, 0) == Approx(2 - 0.1 * (0.75 + 0.25 * 2)).epsilon(1e-14));
  CHECK(parameters.view("b")(0, 0) == Approx(2 - 0.1 * 0.75).epsilon(1e-14));

  gradient.view("w")(0, 0) = gradient.view("b")(0, 0) = -0.5;
  adamw.update(parameters, gradient, 1, 0.1, 2, team);
  const double adam = (1.0 / 6) / (std::sqrt(31.0 / 28) + 0.5);
  CHECK(parameters.view("w")(0, 0) == Approx(1.875 - 0.1 * (adam + 0.25 * 1.875)).epsilon(1e-14));
  CHECK(parameters.view("b")(0, 0) == Approx(1.925 - 0.1 * adam).epsilon(1e-14));
}

TEST_CASE("the first step is the learning rate against the sign of the gradient") {
  // Bias correction makes m̂ = g and v̂ = g², however small g is.
  const auto layout = small_layout();
  AdamW<float> adamw({}, layout);
  Parameters<float> parameters(layout), gradient(layout);
  gradient.view("w")(0, 0) = 3e-3F;
  gradient.view("b")(0, 0) = -40;
  adamw.update(parameters, gradient, 1, 0.01, 1, team);
  CHECK(parameters.view("w")(0, 0) == Approx(-0.01).epsilon(1e-4));
  CHECK(parameters.view("b")(0, 0) == Approx(0.01).epsilon(1e-4));
}

TEST_CASE("decay does not pass through the moments") {
  // Without a gradient a matrix shrinks by 1 - η λ a step, and a bias stays.
  const auto layout = small_layout();
  AdamW<double> adamw({0.9, 0.999, 1e-8, 0.5}, layout);
  Parameters<double> parameters(layout);
  const Parameters<double> gradient(layout);
  parameters.view("w")(0, 0) = parameters.view("b")(0, 0) = 1;
  for (int step = 1; step <= 3; ++step) adamw.update(parameters, gradient, 1, 0.2, step, team);
  CHECK(parameters.view("w")(0, 0) == Approx(0.729).epsilon(1e-14));
  CHECK(parameters.view("b")(0, 0) == 1);
}

TEST_CASE("decay acts on matrices and embeddings, not on biases and gains") {
  using Role = ParameterRole;
  const std::map<std::string, Role> decayed{
      {"token", Role::token_embedding}, {"position", Role::position_embedding},
      {"query", Role::query},           {"key", Role::key},
      {"value", Role::value},           {"attention", Role::attention_output},
      {"in", Role::feed_forward_in},    {"out", Role::feed_forward_out},
      {"output", Role::output},         {"score", Role::score}};
  ParameterLayout layout;
  for (const auto& [name, role] : decayed) layout.add(name, role, 0, 2, 3);
  layout.add("bias", Role::bias, 0, 1, 3);
  layout.add("gain", Role::norm_gain, 0, 1, 3);
  Parameters<double> parameters(layout);
  for (const auto& entry : layout.entries()) parameters.view(entry.block).setOnes();
  AdamW<double> adamw({0.9, 0.999, 1e-8, 0.1}, layout);
  adamw.update(parameters, Parameters<double>(layout), 1, 1, 1, team);
  for (const auto& entry : layout.entries()) {
    CAPTURE(entry.name);
    const double expected = decayed.contains(entry.name) ? 0.9 : 1;
    CHECK((parameters.view(entry.block).array() - expected).abs().maxCoeff() < 1e-15);
  }
}

// Straight from algorithm 2 of the paper, in double, one number at a time.
template <class Real>
double largest_departure_from_the_formula(int steps) {
  ParameterLayout layout;
  layout.add_side_by_side(0, 5, {{"w_q", ParameterRole::query, 3}, {"w_k", ParameterRole::key, 4}});
  layout.add("b", ParameterRole::bias, 0, 1, 7);
  const AdamWConfig config{0.8, 0.95, 1e-3, 0.3};
  AdamW<Real> adamw(config, layout);
  Parameters<Real> parameters(layout), gradient(layout);
  struct Number {
    double value, m = 0, v = 0;
  };
  std::map<std::pair<std::string, Index>, Number> numbers;
  RandomStream random(5, Purpose::measure, 0, 0);
  const auto each = [&](const auto& visit) {
    for (const auto& entry : layout.entries())
      for (Index i = 0; i < entry.block.rows * entry.block.cols; ++i)
        visit(entry, i, i / entry.block.cols, i % entry.block.cols);
  };
  each([&](const ParameterEntry& entry, Index i, Index row, Index col) {
    const auto start = static_cast<Real>(random.normal());
    parameters.view(entry.block)(row, col) = start;
    numbers[{entry.name, i}].value = static_cast<double>(start);
  });
  for (int t = 1; t <= steps; ++t) {
    const double rate = 0.05 / t, scale = t % 2 == 0 ? 0.25 : 1;
    each([&](const ParameterEntry& entry, Index i, Index row, Index col) {
      const auto drawn = static_cast<Real>(random.normal());
      gradient.view(entry.block)(row, col) = drawn;
      auto& number = numbers[{entry.name, i}];
      const double g = scale * static_cast<double>(drawn);
      number.m = config.beta_1 * number.m + (1 - config.beta_1) * g;
      number.v = config.beta_2 * number.v + (1 - config.beta_2) * g * g;
      const double m_hat = number.m / (1 - std::pow(config.beta_1, t));
      const double v_hat = number.v / (1 - std::pow(config.beta_2, t));
      const double decay = entry.name == "b" ? 0 : config.weight_decay;
      number.value -= rate * (m_hat / (std::sqrt(v_hat) + config.epsilon) + decay * number.value);
    });
    adamw.update(parameters, gradient, scale, rate, t, team);
  }
  double worst = 0;
  each([&](const ParameterEntry& entry, Index i, Index row, Index col) {
    const double found = static_cast<double>(parameters.view(entry.block)(row, col));
    worst = std::max(worst, std::abs(found - numbers[{entry.name, i}].value));
  });
  return worst;
}

TEST_CASE("many steps agree with the paper's algorithm, clipping and a changing rate included") {
  CHECK(largest_departure_from_the_formula<double>(20) < 1e-14);
  CHECK(largest_departure_from_the_formula<float>(20) < 1e-5);
}

TEST_CASE("an update does not depend on how many threads share it") {
  ParameterLayout layout;
  layout.add("w", ParameterRole::query, 0, 700, 300);
  layout.add("b", ParameterRole::bias, 0, 1, 300);
  layout.add("v", ParameterRole::value, 0, 100, 300);
  Parameters<float> gradient(layout);
  for (Index i = 0; i < gradient.size(); ++i) gradient.data()[i] = std::sin(static_cast<float>(i));
  gradient.view("v").setZero();  // decays alone, in the last piece
  const auto updated = [&](int threads) {
    ThreadTeam many(threads);
    Parameters<float> parameters(layout);
    parameters.view("w").setOnes();
    parameters.view("v").setOnes();
    AdamW<float> adamw({0.9, 0.99, 1e-8, 0.1}, layout);
    for (int step = 1; step <= 3; ++step) adamw.update(parameters, gradient, 1, 0.1, step, many);
    return parameters;
  };
  const auto alone = updated(1), shared = updated(3);
  CHECK(std::memcmp(shared.data(), alone.data(),
                    static_cast<std::size_t>(alone.size()) * sizeof(float)) == 0);
  CHECK((alone.view("v").array() < 0.98F).all());
}

}  // namespace
}  // namespace headcount
