#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/registry.hpp"

namespace headcount {

// All that the metrics need to know of one example. Every metric is a function of sums of these, so
// stored statistics are enough to recompute it on any subset or resample.
struct ExampleStatistics {
  double nll = 0;               // negative log-likelihood, summed over the targets, in nats
  std::int64_t targets = 0;     // positions that have a target
  std::int64_t correct = 0;     // of these, where the most probable token or class is the target
  std::int64_t characters = 0;  // code points of text the targets stand for; 0 without text
  std::int64_t cluster = 0;     // the document the example comes from
  bool operator==(const ExampleStatistics&) const = default;
};

// Sums over examples, in their order.
struct Totals {
  double nll = 0;
  std::int64_t examples = 0, targets = 0, correct = 0, characters = 0;
  bool operator==(const Totals&) const = default;
};

// Throws Error (bad_data), naming the example, where nll is not a number or not finite, a count is
// negative, or more targets are correct than there are.
Totals total(std::span<const ExampleStatistics> examples);

enum class Direction { lower_is_better, higher_is_better };

struct Metric {
  About about;
  std::string unit;
  Direction direction{};
  // Throws Error (bad_data) where there are no targets, or no characters for a metric per
  // character.
  std::function<double(const Totals&)> value;
};

// nll, perplexity, bits_per_character, accuracy.
const Registry<Metric>& metrics();

// The metric named `metric`; errors as above, or for an unknown name.
double score(std::string_view metric, const Totals& totals);

}  // namespace headcount
