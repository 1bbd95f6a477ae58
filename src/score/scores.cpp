#include "score/scores.hpp"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "base/error.hpp"

namespace headcount {
namespace {

void check(const ExampleStatistics& example, std::size_t index) {
  const auto fail = [&](const std::string& what) {
    throw Error(ExitCode::bad_data, fmt::format("statistics of example {}: {}", index, what));
  };
  if (!std::isfinite(example.nll))
    fail(fmt::format("nll is {}; the model's loss is not a finite number", example.nll));
  if (example.targets < 0 || example.correct < 0 || example.characters < 0)
    fail(fmt::format("a negative count (targets {}, correct {}, characters {})", example.targets,
                     example.correct, example.characters));
  if (example.correct > example.targets)
    fail(fmt::format("{} correct of {} targets", example.correct, example.targets));
}

double per_target(double sum, const Totals& totals) {
  if (totals.targets < 1)
    throw Error(ExitCode::bad_data,
                fmt::format("nothing to score: {} examples hold no targets", totals.examples));
  return sum / static_cast<double>(totals.targets);
}

double nll(const Totals& totals) { return per_target(totals.nll, totals); }

double perplexity(const Totals& totals) { return std::exp(nll(totals)); }

double bits_per_character(const Totals& totals) {
  if (totals.characters < 1)
    throw Error(ExitCode::bad_data,
                fmt::format("bits_per_character needs text: {} targets stand for no characters",
                            totals.targets));
  return totals.nll / std::numbers::ln2 / static_cast<double>(totals.characters);
}

double accuracy(const Totals& totals) {
  return per_target(static_cast<double>(totals.correct), totals);
}

}  // namespace

Totals total(std::span<const ExampleStatistics> examples) {
  Totals totals;
  for (const ExampleStatistics& example : examples) {
    check(example, static_cast<std::size_t>(totals.examples));
    ++totals.examples;
    totals.nll += example.nll;
    totals.targets += example.targets;
    totals.correct += example.correct;
    totals.characters += example.characters;
  }
  return totals;
}

const Registry<Metric>& metrics() {
  static const Registry<Metric> registry(
      "metric",
      {{{"nll", "negative log-likelihood per target, unsmoothed", ""},
        "nats per target",
        Direction::lower_is_better,
        nll},
       {{"perplexity", "e to the power of the nll per target", ""},
        "1",
        Direction::lower_is_better,
        perplexity},
       {{"bits_per_character",
         "nll in bits over the Unicode characters of text that the targets stand for", ""},
        "bits per character",
        Direction::lower_is_better,
        bits_per_character},
       {{"accuracy", "share of targets that are the most probable token or class", ""},
        "1",
        Direction::higher_is_better,
        accuracy}});
  return registry;
}

double score(std::string_view metric, const Totals& totals) {
  return metrics().at(metric).value(totals);
}

}  // namespace headcount
