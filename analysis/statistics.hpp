#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace headcount {

// Statistics over replicates (seeds): few values, assumed independent. Results have the unit of the
// values. Too few values for what is asked is an Error (bad_data) that says how many are needed.

struct ConfidenceInterval {
  double low = 0;
  double high = 0;
};

double mean(std::span<const double> values);                // n >= 1
double standard_deviation(std::span<const double> values);  // n - 1 in the denominator; n >= 2
double standard_error(std::span<const double> values);      // of the mean; n >= 2

// Two-sided Student t interval of the mean: mean -/+ t(n - 1) * standard error; n >= 2.
ConfidenceInterval t_interval(std::span<const double> values, double confidence = 0.95);

// What n replicates say of their mean; the last three are empty for n = 1.
struct Summary {
  std::size_t n = 0;
  double mean = 0;
  std::optional<double> standard_deviation;
  std::optional<double> standard_error;
  std::optional<ConfidenceInterval> interval;
};
Summary summarize(std::span<const double> values, double confidence = 0.95);

// Exact two-sided sign-flip (randomization) test of "differences are symmetric about 0": the share
// of the 2^n sign assignments whose |sum| is at least the one seen (Fisher 1935, The Design of
// Experiments, section 21). It cannot fall below floor = 2 / 2^n, whatever the data.
struct SignFlip {
  double p = 1;
  double floor = 1;
};
inline constexpr std::size_t kMostSignFlips = 40;
SignFlip sign_flip_test(std::span<const double> differences);  // 1 <= n <= kMostSignFlips

// value - baseline, pair by pair: [n] and [n].
struct PairedDifference {
  Summary difference;
  std::optional<SignFlip> sign_flip;  // empty for n > kMostSignFlips
};
PairedDifference paired_difference(std::span<const double> values, std::span<const double> baseline,
                                   double confidence = 0.95);

}  // namespace headcount
