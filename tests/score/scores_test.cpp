#include "score/scores.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <rapidcheck.h>

#include "base/error.hpp"
#include "catch.hpp"

using namespace headcount;

TEST_CASE("metrics by hand") {
  // Two examples: 3 targets at probability 1/2 each, 1 target at 1/8; 8 characters in all.
  const std::vector<ExampleStatistics> examples{{3 * std::log(2), 3, 2, 5, 0},
                                                {std::log(8), 1, 0, 3, 1}};
  const Totals totals = total(examples);
  CHECK(totals.examples == 2);
  CHECK(totals.targets == 4);
  CHECK(totals.correct == 2);
  CHECK(totals.characters == 8);
  CHECK(score("nll", totals) == Approx(6 * std::log(2) / 4));
  CHECK(score("perplexity", totals) == Approx(std::pow(2, 1.5)));
  CHECK(score("bits_per_character", totals) == Approx(6.0 / 8));
  CHECK(score("accuracy", totals) == Approx(0.5));
}

TEST_CASE("every metric says what it is") {
  CHECK(metrics().names() ==
        std::vector<std::string>{"nll", "perplexity", "bits_per_character", "accuracy"});
  for (const Metric& metric : metrics().entries()) {
    CHECK(!metric.about.definition.empty());
    CHECK(!metric.unit.empty());
    CHECK((metric.direction == Direction::higher_is_better) == (metric.about.name == "accuracy"));
  }
  CHECK_THROWS_WITH(score("perplexty", {}), ContainsSubstring("did you mean 'perplexity'?"));
}

TEST_CASE("impossible statistics are refused by example") {
  const ExampleStatistics good{1, 2, 1, 2, 0};
  const auto refuses = [&](ExampleStatistics bad, const std::string& what) {
    const std::vector<ExampleStatistics> examples{good, bad};
    CHECK_THROWS_WITH(total(examples), ContainsSubstring("example 1") && ContainsSubstring(what));
  };
  refuses({std::nan(""), 1, 0, 1, 0}, "nll is nan");
  refuses({std::numeric_limits<double>::infinity(), 1, 0, 1, 0}, "nll is inf");
  refuses({1, -1, 0, 1, 0}, "negative");
  refuses({1, 1, 0, -1, 0}, "negative");
  refuses({1, 1, 2, 1, 0}, "2 correct of 1 targets");
}

TEST_CASE("nothing to score is an error, not a number") {
  for (const Metric& metric : metrics().entries()) CHECK_THROWS_AS(metric.value({}), Error);
  const std::vector<ExampleStatistics> without_text{{1, 2, 1, 0, 0}};
  CHECK(score("nll", total(without_text)) == Approx(0.5));
  CHECK_THROWS_WITH(score("bits_per_character", total(without_text)),
                    ContainsSubstring("needs text"));
}

TEST_CASE("laws of the metrics") {
  REQUIRE(rc::check("perplexity, repetition", [] {
    const auto targets = *rc::gen::inRange<std::int64_t>(1, 50);
    const auto correct = *rc::gen::inRange<std::int64_t>(0, targets + 1);
    const auto characters = *rc::gen::inRange<std::int64_t>(1, 200);
    const double nll = *rc::gen::inRange(0, 1000) / 10.0;
    const ExampleStatistics example{nll, targets, correct, characters, 0};
    const Totals once = total(std::vector{example});
    const Totals thrice = total(std::vector{example, example, example});
    RC_ASSERT(std::abs(std::log(score("perplexity", once)) - score("nll", once)) < 1e-9);
    const double accuracy = score("accuracy", once);
    RC_ASSERT(accuracy >= 0 && accuracy <= 1);
    for (const Metric& metric : metrics().entries())
      RC_ASSERT(std::abs(metric.value(once) - metric.value(thrice)) <= 1e-12 * metric.value(once));
  }));
}
