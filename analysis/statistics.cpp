#include "analysis/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include <boost/math/distributions/students_t.hpp>
#include <fmt/format.h>

#include "base/error.hpp"

namespace headcount {
namespace {

void require(std::span<const double> values, std::size_t least, const char* what) {
  if (values.size() < least)
    throw Error(ExitCode::bad_data,
                fmt::format("{} needs {} values at least, there {} {}", what, least,
                            values.size() == 1 ? "is" : "are", values.size()));
}

// The sums under all sign assignments, in ascending order.
std::vector<double> signed_sums(std::span<const double> values) {
  std::vector<double> sums{0};
  sums.reserve(std::size_t{1} << values.size());
  for (const double value : values) {
    const std::size_t count = sums.size();
    for (std::size_t i = 0; i < count; ++i) {
      sums.push_back(sums[i] - value);
      sums[i] += value;
    }
  }
  std::sort(sums.begin(), sums.end());
  return sums;
}

}  // namespace

double mean(std::span<const double> values) {
  require(values, 1, "a mean");
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  require(values, 2, "a standard deviation");
  const double center = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - center) * (value - center);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double standard_error(std::span<const double> values) {
  return standard_deviation(values) / std::sqrt(static_cast<double>(values.size()));
}

ConfidenceInterval t_interval(std::span<const double> values, double confidence) {
  require(values, 2, "a t interval");
  if (!(confidence > 0 && confidence < 1))
    throw Error(ExitCode::bad_data,
                fmt::format("a confidence lies between 0 and 1, not {}", confidence));
  const boost::math::students_t distribution(static_cast<double>(values.size() - 1));
  const double t = boost::math::quantile(complement(distribution, (1 - confidence) / 2));
  const double half = t * standard_error(values);
  const double center = mean(values);
  return {center - half, center + half};
}

Summary summarize(std::span<const double> values, double confidence) {
  Summary summary;
  summary.n = values.size();
  summary.mean = mean(values);
  if (values.size() >= 2) {
    summary.standard_deviation = standard_deviation(values);
    summary.standard_error = standard_error(values);
    summary.interval = t_interval(values, confidence);
  }
  return summary;
}

SignFlip sign_flip_test(std::span<const double> differences) {
  require(differences, 1, "a sign-flip test");
  const std::size_t n = differences.size();
  if (n > kMostSignFlips)
    throw Error(ExitCode::bad_data, fmt::format("an exact sign-flip test takes {} differences at "
                                                "most, there are {}",
                                                kMostSignFlips, n));
  double sum = 0, magnitude = 0;
  for (const double difference : differences) {
    sum += difference;
    magnitude += std::abs(difference);
  }
  // Sums that are equal on paper differ by rounding here; they count as equal.
  const double threshold = std::abs(sum) - 1e-12 * magnitude;
  const double floor = std::ldexp(2.0, -static_cast<int>(n));
  if (threshold <= 0) return {.p = 1, .floor = floor};

  // Every assignment is one of the first half of the differences with one of the second half. As
  // the first sum grows, more of the second sums reach the threshold. By symmetry as many
  // assignments lie below minus the threshold.
  const auto first = signed_sums(differences.first(n / 2));
  const auto second = signed_sums(differences.subspan(n / 2));
  std::uint64_t reaching = 0;
  std::size_t start = second.size();
  for (const double a : first) {
    while (start > 0 && a + second[start - 1] >= threshold) --start;
    reaching += second.size() - start;
  }
  return {.p = static_cast<double>(reaching) * floor, .floor = floor};
}

PairedDifference paired_difference(std::span<const double> values, std::span<const double> baseline,
                                   double confidence) {
  if (values.size() != baseline.size())
    throw Error(ExitCode::internal, fmt::format("{} values paired with {} baseline values",
                                                values.size(), baseline.size()));
  std::vector<double> differences(values.size());
  std::transform(values.begin(), values.end(), baseline.begin(), differences.begin(),
                 std::minus<>());
  PairedDifference result{.difference = summarize(differences, confidence), .sign_flip = {}};
  if (differences.size() <= kMostSignFlips) result.sign_flip = sign_flip_test(differences);
  return result;
}

}  // namespace headcount
