#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/head_map.hpp"
#include "base/registry.hpp"
#include "evaluate/evaluator.hpp"

namespace headcount {

// One number per head, with all that says what it is. Heads that are not present, or were masked
// while measuring, are NaN.
struct HeadScores {
  About about;
  std::string unit;
  SplitName split{};          // where it was measured
  std::int64_t examples = 0;  // on how many
  HeadMap<double> value;
  HeadMap<double> standard_error;  // over examples
};

// What a measure looks at.
template <class Real>
struct MeasureInput {
  const Evaluator<Real>* evaluator = nullptr;
  const HeadTreatment<Real>* treatment =
      nullptr;                // gates as the model is evaluated; 1 unless masked
  std::vector<HeadId> heads;  // to be measured: present and not masked

  static MeasureInput of(const Evaluator<Real>& evaluator, const HeadTreatment<Real>& treatment);
};

// A head's value on one example as a ratio: values pool as Σ sum / Σ weight over examples.
struct RatioTerm {
  double sum = 0;
  double weight = 0;
};

// A measure is either a statistic of one pattern, gathered in one pass with others of its kind, or
// computes all heads by passes of its own.
struct MeasureEntry {
  About about;
  std::string unit;
  RatioTerm (*pattern_float)(const HeadObservation<float>&) = nullptr;
  RatioTerm (*pattern_double)(const HeadObservation<double>&) = nullptr;
  // [examples] terms per head
  std::vector<std::vector<RatioTerm>> (*compute_float)(const MeasureInput<float>&) = nullptr;
  std::vector<std::vector<RatioTerm>> (*compute_double)(const MeasureInput<double>&) = nullptr;
};

// Per head of MeasureInput::heads, per example.
using HeadTerms = std::vector<std::vector<RatioTerm>>;

const Registry<MeasureEntry>& measures();

// The named measures, patterns in one pass. Throws Error (bad_data) for an unknown name.
template <class Real>
std::vector<HeadScores> measure_heads(const std::vector<std::string>& names,
                                      const MeasureInput<Real>& input);

// Σ sum / Σ weight, and the standard error of that ratio over examples by linearization,
// √(n/(n-1) Σ (sum - ratio · weight)²) / Σ weight (Cochran 1977, section 6.3); NaN for one example
// or no weight.
struct PooledRatio {
  double value = 0;
  double standard_error = 0;
};
PooledRatio pool(const std::vector<RatioTerm>& terms);

}  // namespace headcount
