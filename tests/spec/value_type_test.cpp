#include "spec/value_type.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/error.hpp"
#include "catch.hpp"
#include "spec/laws.hpp"

namespace headcount {
namespace {

std::string canonical(const ValueType& type, std::string_view text) {
  const auto value = type.convert(text);
  INFO(text << ": " << value.problem);
  CHECK(value.ok());
  return value.text;
}

bool refused(const ValueType& type, std::string_view text) { return !type.convert(text).ok(); }

TEST_CASE("integers are strict") {
  const auto count = type::integer(0, 100);
  CHECK(canonical(count, " 42 ") == "42");
  CHECK(canonical(count, "007") == "7");
  for (const auto* text :
       {"", "-1", "101", "4.0", "1e1", "0x10", "+4", "4x", "inf", "yes", "99999999999999999999"})
    CHECK(refused(count, text));
  CHECK(count.convert("4.0").problem ==
        "not an integer, or too large for one; write it in digits alone");
  CHECK(count.convert("-1").problem == "out of range: 0 .. 100");
  CHECK(type::integer(0).convert("-1").problem == "out of range: 0 or more");
  CHECK(count.convert("").problem == "needs a value: integer: 0 .. 100");
}

TEST_CASE("reals are finite, in their interval and have one form") {
  const auto rate = type::real("(0, 1]");
  CHECK(canonical(rate, "0.10") == "0.1");
  CHECK(canonical(rate, "1.0") == "1");
  CHECK(canonical(rate, "1e-3") == "0.001");
  for (const auto* text : {"", "0", "1.1", "inf", "nan", "1e999", "0x1p-2", "0,1", "0.1 0.2"})
    CHECK(refused(rate, text));
  CHECK(canonical(type::real("[0, 1)"), "-0.0") == "0");
  CHECK(refused(type::real("[0, 1)"), "1"));
  CHECK(canonical(type::real("(-inf, inf)"), "-2.50") == "-2.5");
  CHECK(rate.convert("0").problem == "out of range: (0, 1]");
}

TEST_CASE("booleans say yes or no") {
  for (const auto* text : {"yes", "true", "on"}) CHECK(canonical(type::boolean(), text) == "yes");
  for (const auto* text : {"no", "false", "off"}) CHECK(canonical(type::boolean(), text) == "no");
  for (const auto* text : {"", "1", "0", "Yes", "maybe"}) CHECK(refused(type::boolean(), text));
}

TEST_CASE("a choice names the nearest one") {
  const auto positions = type::choice({"none", "sinusoidal", "learned"});
  CHECK(canonical(positions, "learned") == "learned");
  CHECK(positions.convert("sinusodial").problem ==
        "not one of: none, sinusoidal, learned; did you mean 'sinusoidal'?");
  CHECK(refused(positions, ""));
}

TEST_CASE("integers are one number or one per layer") {
  const auto heads = type::integers(1, 16);
  CHECK(canonical(heads, "8") == "8");
  CHECK(canonical(heads, "(8)") == "8");
  CHECK(canonical(heads, "( 8  8 4\t4 )") == "(8 8 4 4)");
  for (const auto* text : {"()", "8 8", "(8, 8)", "(8 17)", "(8 x)", "(8", "8)", "(8.0 8)", ""})
    CHECK(refused(heads, text));
  CHECK(heads.convert("(8 17)").problem == "'17': out of range: 1 .. 16");
}

TEST_CASE("choices are one or one per layer") {
  const auto norms = type::choices({"pre", "post", "none"});
  CHECK(canonical(norms, "post") == "post");
  CHECK(canonical(norms, "( post )") == "post");
  CHECK(canonical(norms, "(pre  post\tpre)") == "(pre post pre)");
  for (const auto* text : {"", "()", "pre post", "(pre, post)", "(pre", "8"})
    CHECK(refused(norms, text));
  CHECK(norms.convert("(pre pots)").problem ==
        "'pots': not one of: pre, post, none; did you mean 'post'?");
  CHECK(norms.description() == "choices: pre, post, none");
  CHECK_FALSE(norms.is_numeric());
  CHECK_FALSE(norms == type::choice({"pre", "post", "none"}));
}

TEST_CASE("names come from their set, each once") {
  const auto measures = type::names({"entropy", "confidence"});
  CHECK(canonical(measures, "entropy,confidence") == "entropy, confidence");
  CHECK(canonical(measures, "(entropy confidence)") == "entropy, confidence");
  CHECK(canonical(measures, "") == "");
  CHECK(measures.convert("entropi").problem ==
        "'entropi' is not one of: entropy, confidence; did you mean 'entropy'?");
  CHECK(measures.convert("entropy, entropy").problem == "'entropy' stands twice");
  CHECK(refused(measures, "entropy,,confidence"));
  CHECK(refused(measures, "entropy,"));
}

TEST_CASE("heads are site, layer and head") {
  const auto heads = type::heads();
  CHECK(canonical(heads, "decoder_self:0:*") == "decoder_self:0:*");
  CHECK(canonical(heads, "cross:01:2 cross:*:3,decoder_self:0:0") ==
        "cross:1:2, cross:*:3, decoder_self:0:0");
  CHECK(canonical(heads, "") == "");
  for (const auto* text : {"cross", "cross:1", "cross:1:2:3", "cross:-1:0", ":1:2", "cross:a:0",
                           "cross:1:2,", "cross:1.0:2"})
    CHECK(refused(heads, text));
}

TEST_CASE("text is what a line can hold") {
  CHECK(canonical(type::text(), "file:a#b;c") == "file:a#b;c");
  CHECK(canonical(type::text(), "\"quoted\"") == "quoted");
  CHECK(canonical(type::text(), "is \"it\" so?") == "is \"it\" so?");
  CHECK(canonical(type::text(), "η = 0.1") == "η = 0.1");
  for (const auto* text : {"a # b", "a ; b", "#a", "5\"", "two\nlines", "bell\a", "\xff"})
    CHECK(refused(type::text(), text));
}

TEST_CASE("a label can be a file name") {
  CHECK(canonical(type::label(), "head-count_2.b") == "head-count_2.b");
  for (const auto* text : {"", "../x", "a/b", ".hidden", "-x", "a b", "é"})
    CHECK(refused(type::label(), text));
  CHECK(refused(type::label(), std::string(101, 'a')));
}

TEST_CASE("a word stands in for a value") {
  const auto width = type::integer(1).or_word("auto");
  CHECK(canonical(width, "auto") == "auto");
  CHECK(canonical(width, "64") == "64");
  CHECK(refused(width, "Auto"));
  CHECK(width.range() == "1 or more, or auto");
  const auto widths = type::integers(0).or_word("auto");
  CHECK(canonical(widths, "auto") == "auto");
  CHECK(canonical(widths, "(auto 0 64)") == "(auto 0 64)");
  CHECK(widths.convert("(auto automatic)").problem == "'automatic': not an integer");
}

TEST_CASE("law: converting a canonical value gives it back") {
  const std::vector<ValueType> types{type::text(),
                                     type::label(),
                                     type::integer(-5),
                                     type::real("(-inf, inf)"),
                                     type::integers(-9).or_word("b"),
                                     type::choices({"a", "b", "ab"}),
                                     type::heads(),
                                     type::names({"a", "b", "ab"})};
  REQUIRE(rc::check("any text", [&] {
    const auto text = *rc::gen::container<std::string>(
        rc::gen::elementOf(std::string("ab019:*,.() \"#;-+e\t\n\\\xc3\xa9")));
    for (const auto& type : types) {
      const auto once = type.convert(text);
      if (!once.ok()) continue;
      const auto twice = type.convert(once.text);
      RC_ASSERT(twice.ok());
      RC_ASSERT(twice.text == once.text);
    }
  }));
  REQUIRE(rc::check("any finite number", [](double value) {
    RC_PRE(std::isfinite(value));
    const auto type = type::real("(-inf, inf)");
    const auto once = type.convert(fmt::format("{:.17g}", value));
    RC_ASSERT(once.ok());
    RC_ASSERT(std::stod(once.text) == value);
    RC_ASSERT(type.convert(once.text).text == once.text);
  }));
}

}  // namespace
}  // namespace headcount
