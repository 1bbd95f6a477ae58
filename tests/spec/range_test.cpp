#include "spec/range.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "catch.hpp"
#include "spec/laws.hpp"

namespace headcount {
namespace {

using Texts = std::vector<std::string>;

TEST_CASE("ranges are exact decimals and include both ends") {
  CHECK(linear_range("1", "5", "1", 100).points == Texts{"1", "2", "3", "4", "5"});
  CHECK(linear_range("0.0", "0.9", "0.1", 100).points ==
        Texts{"0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"});
  CHECK(linear_range("-1", "1", "0.5", 100).points == Texts{"-1.0", "-0.5", "0.0", "0.5", "1.0"});
  CHECK(linear_range("1e-3", "3e-3", "1e-3", 100).points == Texts{"0.001", "0.002", "0.003"});
  CHECK(linear_range("7", "7", "1", 100).points == Texts{"7"});
  CHECK(linear_range("1e20", "3e20", "1e20", 100).points == Texts{"1e20", "2e20", "3e20"});
}

TEST_CASE("ranges that cannot be meant are refused") {
  const auto problem = [](const char* a, const char* b, const char* s) {
    const auto range = linear_range(a, b, s, 100);
    CHECK(range.points.empty());
    return range.problem;
  };
  CHECK(problem("0", "1", "0.3") == "steps of 0.3 from 0 pass over 1; the last before it is 0.9");
  CHECK(problem("5", "1", "1") == "the range ends below its start; write the smaller end first");
  CHECK(problem("1", "5", "0") == "the step must be above 0");
  CHECK(problem("1", "5", "-1") == "the step must be above 0");
  CHECK(problem("1", "x", "1") == "'x' is not a plain number of a range");
  CHECK(problem("1", "inf", "1") == "'inf' is not a plain number of a range");
  CHECK(problem("0", "1000000000", "1") ==
        "the range has 1000000001 values; at most 100 are taken");
  CHECK_THAT(problem("1e-300", "1", "1e-300"), ContainsSubstring("17 digits"));
  CHECK_THAT(problem("0", "99999999999999999999999", "1"), ContainsSubstring("plain number"));
}

TEST_CASE("logarithmic ranges keep their ends and have short middles") {
  CHECK(logarithmic_range("1e-4", "1e-2", "3", 100).points == Texts{"1e-4", "0.001", "1e-2"});
  CHECK(logarithmic_range("64", "1024", "5", 100).points ==
        Texts{"64", "128", "256", "512", "1024"});
  CHECK(logarithmic_range("1", "10", "3", 100).points == Texts{"1", "3.16228", "10"});
  for (const auto& [a, b, n] : {std::array{"0", "1", "3"},
                                {"-1", "1", "3"},
                                {"2", "1", "3"},
                                {"1", "1", "3"},
                                {"1", "2", "1"},
                                {"1", "2", "x"},
                                {"1", "2", "101"},
                                {"1", "2", "-3"},
                                {"a", "2", "3"}})
    CHECK_FALSE(logarithmic_range(a, b, n, 100).problem.empty());
}

TEST_CASE("law: a range of n points has n points, in order, its ends among them") {
  REQUIRE(rc::check("linear", [] {
    const int places = *rc::gen::inRange(0, 6);
    const auto first = *rc::gen::inRange<std::int64_t>(-100000, 100000);
    const auto step = *rc::gen::inRange<std::int64_t>(1, 5000);
    const auto n = *rc::gen::inRange<std::int64_t>(1, 200);
    const auto unit = std::pow(10.0, places);
    const auto text = [&](std::int64_t digits) {
      return fmt::format("{:.{}f}", static_cast<double>(digits) / unit, places);
    };
    const auto last = first + (n - 1) * step;
    const auto range = linear_range(text(first), text(last), text(step), 200);
    RC_ASSERT(range.problem == "");
    RC_ASSERT(range.points.size() == static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
      RC_ASSERT(std::stod(range.points[static_cast<std::size_t>(i)]) ==
                std::stod(text(first + i * step)));
    // One unit beyond the end is passed over, unless every unit is a step.
    if (step > 1)
      RC_ASSERT(!linear_range(text(first), text(last + 1), text(step), 300).problem.empty());
  }));
  REQUIRE(rc::check("logarithmic", [] {
    const auto first = *rc::gen::inRange(1, 1000);
    const auto factor = *rc::gen::inRange(2, 1000);
    const auto n = *rc::gen::inRange(2, 50);
    const auto last = std::to_string(first * factor);
    const auto range = logarithmic_range(std::to_string(first), last, std::to_string(n), 50);
    RC_ASSERT(range.points.size() == static_cast<std::size_t>(n));
    RC_ASSERT(range.points.front() == std::to_string(first));
    RC_ASSERT(range.points.back() == last);
    for (std::size_t i = 1; i < range.points.size(); ++i)
      RC_ASSERT(std::stod(range.points[i - 1]) < std::stod(range.points[i]));
  }));
}

TEST_CASE("exponents beyond all reason are no numbers of a range") {
  for (const auto* number : {"0e-9223372036854775808", "0e9223372036854775807", "0e-401"})
    CHECK_FALSE(linear_range(number, "1", "1", 10).problem.empty());
}

}  // namespace
}  // namespace headcount
