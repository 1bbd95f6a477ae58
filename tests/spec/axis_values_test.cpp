#include "spec/axis_values.hpp"

#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "catch.hpp"
#include "spec/laws.hpp"

namespace headcount {
namespace {

using Texts = std::vector<std::string>;

Texts values(const ValueType& type, std::string_view text) {
  const auto axis = parse_axis_values(type, text);
  INFO(join(axis.problems, "; "));
  CHECK(axis.problems.empty());
  return axis.values;
}

std::string problems(const ValueType& type, std::string_view text) {
  return join(parse_axis_values(type, text).problems, "; ");
}

TEST_CASE("lists, ranges and both") {
  CHECK(values(type::integer(1), "1, 2,4") == Texts{"1", "2", "4"});
  CHECK(values(type::integer(0), "1 .. 5") == Texts{"1", "2", "3", "4", "5"});
  CHECK(values(type::integer(0), "1..3, 8") == Texts{"1", "2", "3", "8"});
  CHECK(values(type::integer(0), "0 .. 8 step 4") == Texts{"0", "4", "8"});
  CHECK(values(type::real("[0, 1]"), "0.0 .. 0.4 step 0.1") ==
        Texts{"0", "0.1", "0.2", "0.3", "0.4"});
  CHECK(values(type::real("(0, 1]"), "log(1e-4 .. 1e-2, 3)") == Texts{"1e-04", "0.001", "0.01"});
  CHECK(values(type::integer(1), "log( 1 .. 100 , 3 )") == Texts{"1", "10", "100"});
  CHECK(values(type::boolean(), "yes, no") == Texts{"yes", "no"});
}

TEST_CASE("values that are lists") {
  CHECK(values(type::choices({"pre", "post"}), "pre, (pre post), (post)") ==
        Texts{"pre", "(pre post)", "post"});
  CHECK(values(type::integers(1), "(8 8 4 4), (4 4 4 4)") == Texts{"(8 8 4 4)", "(4 4 4 4)"});
  CHECK(values(type::integers(1), "1 .. 3, (4 2)") == Texts{"1", "2", "3", "(4 2)"});
  CHECK(values(type::names({"a", "b"}), "(a b), b, ()") == Texts{"a, b", "b", ""});
  CHECK(values(type::heads(), "(x:0:* x:1:1), x:0:0") == Texts{"x:0:*, x:1:1", "x:0:0"});
  CHECK(values(type::text(), "\"a, b\", file:../c..d") == Texts{"a, b", "file:../c..d"});
}

TEST_CASE("every problem of an axis is told, and the good values stay") {
  const auto axis = parse_axis_values(type::integer(1, 9), "1, x, 12, 2,, 1");
  CHECK(axis.values == Texts{"1", "2"});
  CHECK(axis.problems == Texts{"'x': not an integer", "'12': out of range: 1 .. 9",
                               "an empty place in the list", "'1' stands twice"});
}

TEST_CASE("ranges are as strict as values") {
  CHECK_THAT(problems(type::integer(1), "1.0 .. 5.0"), ContainsSubstring("'1.0': not an integer"));
  CHECK_THAT(problems(type::integer(1), "1 .. 2 step 0.5"), ContainsSubstring("step '0.5'"));
  CHECK_THAT(problems(type::integer(1, 4), "1 .. 5"), ContainsSubstring("'5': out of range"));
  CHECK_THAT(problems(type::integer(1), "1 .. 1000000000"), ContainsSubstring("at most 100000"));
  CHECK_THAT(problems(type::real("[0, 1]"), "0.1 .. 0.5"), ContainsSubstring("has no step"));
  CHECK_THAT(problems(type::integer(1), "log(1 .. 10, 3)"), ContainsSubstring("'3.16228': not an"));
  CHECK_THAT(problems(type::integer(1), "log(1, 3)"), ContainsSubstring("write log("));
  CHECK_THAT(problems(type::integer(1), "1 .. 2 .. 3"), ContainsSubstring("not an integer"));
  for (const auto* text : {"", ",", "log()", "log(", "log", "..", "1 ..", ".. 5", "1 .. 5 step",
                           "(1", "1 .. 60000, 1 .. 60000"})
    CHECK_FALSE(problems(type::integer(1), text).empty());
}

TEST_CASE("law: a list of values reads back as those values") {
  REQUIRE(rc::check("integers and lists of integers", [] {
    const auto word = rc::gen::map(
        rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 1000))),
        [](const std::vector<int>& numbers) {
          Texts texts;
          for (const int n : numbers) texts.push_back(std::to_string(n));
          if (texts.size() == 1) return texts.front();
          return fmt::format("({})", join(texts, " "));
        });
    const auto set = *rc::gen::nonEmpty(rc::gen::container<std::set<std::string>>(word));
    const Texts wanted(set.begin(), set.end());
    const auto axis = parse_axis_values(type::integers(1), join(wanted, ", "));
    RC_ASSERT(axis.problems.empty());
    RC_ASSERT(axis.values == wanted);
  }));
}

TEST_CASE("a list of few bytes does not make problems without end") {
  std::string text = "1 .. 40000";
  for (int i = 0; i < 1000; ++i) text += ", 1 .. 40000";
  CHECK(parse_axis_values(type::integer(1), text).problems.size() == 100);
}

}  // namespace
}  // namespace headcount
