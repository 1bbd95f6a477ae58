#include "measure/measure.hpp"

#include <cmath>
#include <limits>

#include <rapidcheck.h>

#include "catch.hpp"
#include "patterns.hpp"
#include "support/toy.hpp"

namespace headcount {
namespace {

using Terms = std::vector<RatioTerm>;

TEST_CASE("a ratio and its standard error by hand") {
  // ratio (1 + 3) / (2 + 2) = 1, residuals -1 and 1: √(2/1 · 2) / 4
  const auto found = pool(Terms{{1, 2}, {3, 2}});
  CHECK(found.value == 1);
  CHECK(found.standard_error == 0.5);

  // (2 + 1 + 6) / (1 + 1 + 4) = 1.5, residuals 0.5, -0.5, 0: √(3/2 · 0.5) / 6
  const auto ragged = pool(Terms{{2, 1}, {1, 1}, {6, 4}});
  CHECK(ragged.value == 1.5);
  CHECK(ragged.standard_error == Approx(std::sqrt(0.75) / 6).epsilon(1e-15));
}

TEST_CASE("with equal weights it is the mean and its usual standard error") {
  // 1, 2, 6: mean 3, variance (4 + 1 + 9) / 2 = 7
  const auto found = pool(Terms{{1, 1}, {2, 1}, {6, 1}});
  CHECK(found.value == 3);
  CHECK(found.standard_error == Approx(std::sqrt(7.0 / 3)).epsilon(1e-15));
}

TEST_CASE("there is no ratio without weight and no error from one example") {
  CHECK(std::isnan(pool(Terms{}).value));
  CHECK(std::isnan(pool(Terms{{0, 0}, {0, 0}}).value));
  CHECK(std::isnan(pool(Terms{{0, 0}, {0, 0}}).standard_error));
  const auto one = pool(Terms{{3, 2}});
  CHECK(one.value == 1.5);
  CHECK(std::isnan(one.standard_error));
}

TEST_CASE("pooling does not depend on order, and doubling all weights halves the ratio") {
  REQUIRE(rc::check("pool", [] {
    Terms terms, doubled;
    for (auto n = *rc::gen::inRange(2, 20); n > 0; --n) {
      terms.push_back({*rc::gen::inRange(-100, 100) / 8.0, *rc::gen::inRange(1, 50) / 4.0});
      doubled.push_back({terms.back().sum, 2 * terms.back().weight});
    }
    const auto found = pool(terms), half = pool(doubled);
    RC_ASSERT(half.value == found.value / 2);
    RC_ASSERT(std::abs(half.standard_error - found.standard_error / 2) <= 1e-12);
    RC_ASSERT(found.standard_error >= 0);
    std::reverse(terms.begin(), terms.end());
    const auto reversed = pool(terms);
    RC_ASSERT(std::abs(reversed.value - found.value) <= 1e-12);
    RC_ASSERT(std::abs(reversed.standard_error - found.standard_error) <= 1e-10);
  }));
}

// Rows of a softmax over arbitrary scores, sharp ones included.
Matrix<double> some_pattern(AttentionMask mask) {
  const Index queries = *rc::gen::inRange<Index>(1, 7);
  const Index keys = queries + *rc::gen::inRange<Index>(0, 5);
  Matrix<double> pattern = Matrix<double>::Zero(queries, keys);
  for (Index i = 0; i < queries; ++i) {
    const Index visible = visible_keys(mask, i, queries, keys);
    for (Index j = 0; j < visible; ++j)
      pattern(i, j) = std::exp(*rc::gen::inRange(-800, 800) / 20.0);
    pattern.row(i) /= pattern.row(i).sum();
  }
  return pattern;
}

TEST_CASE("pattern measures stay within their bounds") {
  REQUIRE(rc::check("bounds", [] {
    const auto mask = *rc::gen::element(AttentionMask::causal, AttentionMask::none);
    const auto pattern = some_pattern(mask);
    const auto keys = static_cast<double>(pattern.cols());
    constexpr double kRounding = 1e-12;
    const double entropy = mean_of("entropy", pattern, mask);
    RC_ASSERT((entropy >= 0 && entropy <= std::log(keys) + kRounding));
    const double confidence = mean_of("confidence", pattern, mask);
    RC_ASSERT((confidence >= 1 / keys - kRounding && confidence <= 1 + kRounding));
    const double distance = mean_of("distance", pattern, mask);
    RC_ASSERT((distance >= 0 && distance <= keys - 1 + kRounding));
    const auto normalized = term("entropy.normalized", pattern, mask);
    RC_ASSERT(normalized.weight <= static_cast<double>(pattern.rows()));
    RC_ASSERT((normalized.sum >= 0 && normalized.sum <= normalized.weight + kRounding));
    // exp(-entropy) of a row is at most its largest weight
    RC_ASSERT(std::exp(-entropy) <= confidence + kRounding);
  }));
}

struct Toy {
  explicit Toy(int threads = 1)
      : model(toy_config()),
        parameters(toy_parameters(model, 3)),
        treatment(HeadTreatment<double>::intact(model.heads())),
        team(threads),
        evaluator(model, parameters, task, SplitName::validation, 0, team, 20) {}

  HeadScores measure(const std::string& name) const {
    return measure_heads<double>({name}, MeasureInput<double>::of(evaluator, treatment)).front();
  }

  ToyTask task;
  Model<double> model;
  Parameters<double> parameters;
  HeadTreatment<double> treatment;
  ThreadTeam team;
  Evaluator<double> evaluator;
};

// Entropy again, from the patterns of every example.
class PatternSums : public ExampleObserver<double> {
 public:
  explicit PatternSums(const HeadCounts& counts) : entropy(counts), rows(counts) {}
  void observe(Index, const HeadObservation<double>& seen) override {
    for (Index i = 0; i < seen.pattern.rows(); ++i)
      for (Index j = 0; j < seen.pattern.cols(); ++j)
        if (const double p = seen.pattern(i, j); p > 0) entropy.at(seen.id) -= p * std::log(p);
    rows.at(seen.id) += static_cast<double>(seen.pattern.rows());
  }
  HeadMap<double> entropy, rows;
};

TEST_CASE("a pattern measure of a head is its mean over all rows of all examples") {
  const Toy toy;
  PatternSums sums(toy.model.heads());
  toy.evaluator.run(toy.treatment, &sums);
  const auto found = toy.measure("entropy");
  for (const auto& id : toy.model.heads().all()) {
    CHECK(found.value.at(id) == Approx(sums.entropy.at(id) / sums.rows.at(id)).epsilon(1e-12));
    CHECK(found.standard_error.at(id) > 0);
  }
}

TEST_CASE("a number says what it is") {
  const Toy toy;
  for (const auto& name : measures().names()) {
    const auto found = toy.measure(name);
    CHECK(found.about.name == name);
    CHECK_FALSE(found.about.definition.empty());
    CHECK_FALSE(found.unit.empty());
    CHECK(found.split == SplitName::validation);
    CHECK(found.examples == 11);
  }
}

TEST_CASE("measures taken together are those taken one by one, for any number of threads") {
  const Toy one, three(3);
  const std::vector<std::string> names{"importance.ablation", "distance", "importance.gradient",
                                       "entropy"};
  const auto together =
      measure_heads<double>(names, MeasureInput<double>::of(three.evaluator, three.treatment));
  REQUIRE(together.size() == names.size());
  for (std::size_t m = 0; m < names.size(); ++m) {
    const auto alone = one.measure(names[m]);
    CHECK(together[m].about.name == names[m]);
    CHECK(together[m].value == alone.value);
    CHECK(together[m].standard_error == alone.standard_error);
  }
  CHECK_THROWS_WITH(one.measure("entropi"), ContainsSubstring("did you mean 'entropy'?"));
}

TEST_CASE("heads that are masked or gone are not measured, the others as before") {
  Toy toy;
  const HeadId masked = toy_head(0, 1), uniform = toy_head(1, 0), gone = toy_head(1, 2);
  const auto smaller = toy.model.without({gone});
  const auto parameters = toy.model.shrink(toy.parameters, smaller);
  const auto evaluator = toy.evaluator.with(smaller, parameters);
  toy.treatment.mask(masked, MaskKind::zero);
  toy.treatment.mask(uniform, MaskKind::uniform);
  const auto input = MeasureInput<double>::of(evaluator, toy.treatment);
  CHECK(input.heads == std::vector<HeadId>{toy_head(0, 0), toy_head(1, 1)});
  for (const auto& scores : measure_heads<double>(measures().names(), input))
    for (const auto& id : toy.model.heads().all()) {
      CAPTURE(scores.about.name, to_string(id));
      const bool measured = id == toy_head(0, 0) || id == toy_head(1, 1);
      CHECK(std::isnan(scores.value.at(id)) == !measured);
      CHECK(std::isnan(scores.standard_error.at(id)) == !measured);
    }
}

}  // namespace
}  // namespace headcount
