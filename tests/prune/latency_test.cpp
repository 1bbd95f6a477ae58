#include "prune/latency.hpp"

#include <cmath>

#include "catch.hpp"
#include "model/flops.hpp"
#include "support/toy.hpp"

namespace headcount {
namespace {

TEST_CASE("a spread is the distance of the quartiles, whatever the order") {
  const auto five = spread_of({5, 1, 2, 4, 3});
  CHECK(five.median == 3);
  CHECK(five.range == 2);  // 4 - 2
  const auto four = spread_of({4, 1, 2, 3});
  CHECK(four.median == 2.5);
  CHECK(four.range == 1.5);  // 3.25 - 1.75
  CHECK(spread_of({7}).range == 0);
  CHECK(std::isnan(spread_of({}).median));
}

std::vector<Latency> of_toy(std::int64_t examples, const LatencyOptions& options) {
  const ToyTask task(1, examples);
  const Model<float> model(toy_config());
  const auto parameters = toy_parameters(model, 1);
  const auto intact = HeadTreatment<float>::intact(model.heads());
  return measure_latency(model, parameters, {toy_head(0, 1), toy_head(1, 0)}, intact,
                         task.split(SplitName::test).examples, options);
}

TEST_CASE("latency is measured for as many sequences as there are") {
  CHECK(of_toy(0, {5, 10}).empty());
  CHECK(of_toy(15, {5, 10}).size() == 1);
  CHECK(of_toy(63, {5, 10}).size() == 2);
  const auto found = of_toy(64, {5, 10});
  REQUIRE(found.size() == 3);
  const std::vector<std::int64_t> sequences{1, 16, 64};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(found[i].sequences == sequences[i]);
    CHECK(found[i].repetitions == 5);
    for (const auto& spread : {found[i].intact, found[i].smaller, found[i].ratio}) {
      CHECK(spread.median > 0);
      CHECK(spread.range >= 0);
    }
  }
  // D = 12, F = 16, V = 7; H·K was 12 in both layers, and is 6 and 8: of T tokens 2 T D Σ H·K · 4
  // and so on.
  const double tokens =
      static_cast<double>(std::ssize(ToyTask(1, 64).split(SplitName::test).examples.front().input));
  const auto flops = [&](double columns) {
    return 2 * (tokens * 12 * 7 + 4 * tokens * 12 * columns + tokens * (tokens + 1) * columns +
                2 * 2 * tokens * 12 * 16);
  };
  CHECK(found[0].flops_ratio == Approx(flops(14) / flops(24)));
}

TEST_CASE("little time leaves three repetitions, and many sequences out") {
  const auto found = of_toy(64, {100, 0});
  REQUIRE(found.size() == 2);
  CHECK(found[0].repetitions == 3);
  CHECK(found[1].repetitions == 3);
}

}  // namespace
}  // namespace headcount
