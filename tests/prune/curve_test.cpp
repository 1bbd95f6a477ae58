#include "prune/curve.hpp"

#include <cmath>

#include <rapidcheck.h>

#include "catch.hpp"
#include "toy_pruning.hpp"

namespace headcount {
namespace {

using Counts = std::vector<int>;

TEST_CASE("how many heads are gone at each point") {
  CHECK(removals(10, 0.1) == Counts{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  CHECK(removals(12, 0.25) == Counts{0, 3, 6, 9, 12});
  CHECK(removals(5, 0.4) == Counts{0, 2, 4, 5});
  CHECK(removals(7, 1) == Counts{0, 7});
  CHECK(removals(8, 0.3) == Counts{0, 2, 4, 7, 8});
  CHECK(removals(0, 0.5) == Counts{0});
}

TEST_CASE("points that would remove the same number are one, however small the step") {
  CHECK(removals(3, 0.1) == Counts{0, 1, 2, 3});
  CHECK(removals(2, 1e-12) == Counts{0, 1, 2});
}

TEST_CASE("points rise from none to all in steps of the share") {
  REQUIRE(rc::check("removals", [] {
    const int heads = *rc::gen::inRange(1, 300);
    const double step = *rc::gen::inRange(1, 1001) / 1000.0;
    const auto points = removals(heads, step);
    RC_ASSERT(points.front() == 0);
    RC_ASSERT(points.back() == heads);
    for (std::size_t i = 1; i < points.size(); ++i) {
      RC_ASSERT(points[i] > points[i - 1]);
      RC_ASSERT(points[i] - points[i - 1] <= std::ceil(std::max(step * heads, 1.0)) + 1e-9);
    }
  }));
}

HeadOrder some_order() {
  return {toy_head(1, 1), toy_head(0, 0), toy_head(1, 2), toy_head(0, 1), toy_head(1, 0)};
}

TEST_CASE("a curve runs from the intact model to the one with every head masked") {
  const ToyPruning toy;
  const Counts points{0, 2, 5};
  const auto curve = pruning_curve<double>(some_order(), points, {}, toy.reporting, toy.treatment);
  CHECK(curve.order == some_order());
  CHECK(curve.removals == points);
  REQUIRE(curve.points.size() == 3);
  CHECK(curve.points[0] == toy.reporting.run(toy.treatment));
  auto two = toy.treatment, all = toy.treatment;
  two.mask({toy_head(1, 1), toy_head(0, 0)}, MaskKind::zero);
  all.mask(toy.model.heads().all(), MaskKind::zero);
  CHECK(curve.points[1] == toy.reporting.run(two));
  CHECK(curve.points[2] == toy.reporting.run(all));
  CHECK(curve.points[1] != curve.points[0]);
  for (const auto& removed : curve.removed) CHECK(removed.empty());
}

TEST_CASE("the model with the heads removed gives what masking them gives") {
  const ToyPruning toy;
  const auto curve = pruning_curve<double>(
      some_order(), {0, 1, 2, 3, 4, 5}, {0, 0.2, 0.4, 0.6, 0.8, 1}, toy.reporting, toy.treatment);
  for (std::size_t point = 0; point < 6; ++point) {
    REQUIRE(curve.removed[point].size() == curve.points[point].size());
    for (std::size_t x = 0; x < curve.points[point].size(); ++x) {
      CHECK(curve.removed[point][x].nll == Approx(curve.points[point][x].nll).epsilon(1e-12));
      CHECK(curve.removed[point][x].correct == curve.points[point][x].correct);
    }
  }
}

TEST_CASE("the smaller model is built at the points nearest the wanted shares") {
  const ToyPruning toy;
  const auto built = [&](const std::vector<double>& shares) {
    const auto curve =
        pruning_curve<double>(some_order(), {0, 2, 4, 5}, shares, toy.reporting, toy.treatment);
    std::vector<bool> at;
    for (const auto& removed : curve.removed) at.push_back(!removed.empty());
    return at;
  };
  CHECK(built({0.5}) == std::vector<bool>{false, true, false, false});  // 2.5 heads: 2, not 4
  CHECK(built({0.75}) == std::vector<bool>{false, false, true, false});
  CHECK(built({0, 1}) == std::vector<bool>{true, false, false, true});
}

TEST_CASE("masks in force stay in force along the curve, also in the smaller model") {
  ToyPruning toy;
  toy.treatment.mask(toy_head(0, 1), MaskKind::zero);
  RowVector<double> mean(4);
  mean << 0.5, -1, 2, 0;
  toy.treatment.mask(toy_head(1, 2), MaskKind::mean, &mean);
  const HeadOrder order{toy_head(1, 0), toy_head(0, 0), toy_head(1, 1)};
  const auto curve = pruning_curve<double>(order, {0, 1, 2, 3}, {1}, toy.reporting, toy.treatment);
  CHECK(curve.points[0] == toy.reporting.run(toy.treatment));
  auto last = toy.treatment;
  last.mask(order, MaskKind::zero);
  CHECK(curve.points[3] == toy.reporting.run(last));
  REQUIRE_FALSE(curve.removed[3].empty());
  for (std::size_t x = 0; x < curve.removed[3].size(); ++x)
    CHECK(curve.removed[3][x].nll == Approx(curve.points[3][x].nll).epsilon(1e-12));
}

}  // namespace
}  // namespace headcount
