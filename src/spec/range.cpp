#include "spec/range.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "spec/lexical.hpp"

namespace headcount {
namespace {

constexpr std::int64_t kLargest = 1'000'000'000'000'000'000;  // 18 digits: sums stay in 64 bits

// digits × 10^exponent
struct Decimal {
  std::int64_t digits = 0;
  int exponent = 0;
};

std::optional<Decimal> parse_decimal(std::string_view text) {
  if (!parse_real(text)) return std::nullopt;  // settles the form; what follows only reads it
  Decimal decimal;
  const auto e = text.find_first_of("eE");
  if (e != std::string_view::npos) {
    auto exponent = text.substr(e + 1);
    if (!exponent.empty() && exponent.front() == '+') exponent.remove_prefix(1);
    const auto value = parse_integer(exponent);
    if (!value || *value < -400 || *value > 400) return std::nullopt;
    decimal.exponent = static_cast<int>(*value);
    text = text.substr(0, e);
  }
  bool point = false;
  for (const char c : text) {
    if (c == '.') point = true;
    if (c < '0' || c > '9') continue;
    if (decimal.digits >= kLargest / 10) return std::nullopt;
    decimal.digits = decimal.digits * 10 + (c - '0');
    if (point) --decimal.exponent;
  }
  if (text.front() == '-') decimal.digits = -decimal.digits;
  return decimal;
}

// The digits of the same number with a smaller exponent; nothing when they are too many.
std::optional<std::int64_t> digits_at(Decimal decimal, int exponent) {
  for (; decimal.exponent > exponent && decimal.digits != 0; --decimal.exponent) {
    if (std::abs(decimal.digits) >= kLargest / 10) return std::nullopt;
    decimal.digits *= 10;
  }
  return decimal.digits;
}

std::string to_text(std::int64_t digits, int exponent) {
  if (digits == 0 && exponent > 0) return "0";
  if (exponent > 0) return fmt::format("{}e{}", digits, exponent);
  const auto places = static_cast<std::size_t>(-exponent);
  const std::string text = fmt::format("{:0{}}", std::abs(digits), places + 1);
  const auto whole = std::string_view(text).substr(0, text.size() - places);
  const auto fraction = std::string_view(text).substr(text.size() - places);
  return fmt::format("{}{}{}{}", digits < 0 ? "-" : "", whole, places > 0 ? "." : "", fraction);
}

RangePoints problem(std::string text) { return {{}, std::move(text)}; }

}  // namespace

RangePoints linear_range(std::string_view first, std::string_view last, std::string_view step,
                         std::size_t limit) {
  const auto a = parse_decimal(first);
  const auto b = parse_decimal(last);
  const auto s = parse_decimal(step);
  for (const auto& [text, value] : {std::pair{first, a}, std::pair{last, b}, std::pair{step, s}})
    if (!value) return problem(fmt::format("{} is not a plain number of a range", shown(text)));

  const int exponent = std::min({a->exponent, b->exponent, s->exponent});
  const auto from = digits_at(*a, exponent);
  const auto to = digits_at(*b, exponent);
  const auto by = digits_at(*s, exponent);
  if (!from || !to || !by)
    return problem("the range needs more than 17 digits to be exact; use fewer places");
  if (*by <= 0) return problem("the step must be above 0");
  if (*to < *from) return problem("the range ends below its start; write the smaller end first");
  const std::int64_t distance = *to - *from;
  if (distance % *by != 0)
    return problem(fmt::format("steps of {} from {} pass over {}; the last before it is {}", step,
                               first, last, to_text(*to - distance % *by, exponent)));
  const auto steps = static_cast<std::size_t>(distance / *by);
  if (steps >= limit)
    return problem(fmt::format("the range has {} values; at most {} are taken", steps + 1, limit));

  RangePoints range;
  for (std::size_t i = 0; i <= steps; ++i)
    range.points.push_back(to_text(*from + static_cast<std::int64_t>(i) * *by, exponent));
  return range;
}

RangePoints logarithmic_range(std::string_view first, std::string_view last, std::string_view count,
                              std::size_t limit) {
  const auto a = parse_real(first);
  const auto b = parse_real(last);
  const auto n = parse_integer(count);
  if (!a || !b || *a <= 0 || *b <= *a)
    return problem("log(first .. last, count) needs numbers with 0 < first < last");
  if (!n || *n < 2) return problem("log(first .. last, count) needs a count of 2 or more");
  if (static_cast<std::uint64_t>(*n) > limit)
    return problem(fmt::format("the range has {} values; at most {} are taken", *n, limit));

  RangePoints range;
  range.points.emplace_back(first);
  const double from = std::log(*a);
  const double distance = std::log(*b) - from;
  for (std::int64_t i = 1; i + 1 < *n; ++i) {
    const double exact =
        std::exp(from + distance * static_cast<double>(i) / static_cast<double>(*n - 1));
    const double rounded = parse_real(fmt::format("{:.5e}", exact)).value_or(exact);
    const bool whole = rounded == std::floor(rounded) && rounded < 1e15;
    range.points.push_back(whole ? fmt::format("{:.0f}", rounded) : shortest(rounded));
  }
  range.points.emplace_back(last);
  return range;
}

}  // namespace headcount
