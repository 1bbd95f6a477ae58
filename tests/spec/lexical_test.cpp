#include "spec/lexical.hpp"

#include "catch.hpp"
#include "spec/laws.hpp"

namespace headcount {
namespace {

TEST_CASE("comments begin at the start and after a blank") {
  CHECK(cut_comment("# all").content == "");
  CHECK(cut_comment("  ; all").content == "");
  CHECK(cut_comment("a = 1 # b").content == "a = 1");
  CHECK(cut_comment("a = 1\t;b").content == "a = 1");
  CHECK(cut_comment("a = x#y;z").content == "a = x#y;z");
  CHECK(cut_comment("a = 1 # it's \"open").content == "a = 1");
}

TEST_CASE("quotes must close and hold no comment mark") {
  CHECK(cut_comment("a = \"b c\"").content == "a = \"b c\"");
  CHECK(cut_comment("a = \"b").problem == "a double quote is not closed");
  CHECK_THAT(cut_comment("a = \"b # c\"").problem, ContainsSubstring("'#' inside quotes"));
  CHECK_THAT(cut_comment("a = \"b; c\"").problem, ContainsSubstring("';' inside quotes"));
}

TEST_CASE("bytes that are no text are told with their column") {
  CHECK(unfit_bytes("naïve → 漢 😀\tok") == "");
  CHECK(unfit_bytes(std::string_view("a\0b", 3)) == "a control character (byte 0x00) in column 2");
  CHECK(unfit_bytes("ab\x1b[1m") == "a control character (byte 0x1b) in column 3");
  for (const auto* text : {"\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80",
                           "\xe2\x82", "\xf0\x9f\x98"})
    CHECK_THAT(unfit_bytes(text), ContainsSubstring("not UTF-8"));
}

TEST_CASE("quotes around the whole value fall off") {
  CHECK(unquote("\"a b\"") == "a b");
  CHECK(unquote("\"\"") == "");
  CHECK(unquote("\"a\" \"b\"") == "\"a\" \"b\"");
  CHECK(unquote("\"") == "\"");
}

TEST_CASE("dotted names") {
  for (const auto* name : {"a", "model.d-model", "x_1.y.z"}) CHECK(is_dotted_name(name));
  for (const auto* name : {"", ".", "a.", ".a", "a..b", "a b", "é", "a[", "*"})
    CHECK_FALSE(is_dotted_name(name));
}

TEST_CASE("values in messages cannot spoil a terminal") {
  CHECK(shown("plain é") == "'plain é'");
  CHECK(shown("\x1b[2J") == "'\\x1b[2J'");
  CHECK(shown("\xff") == "'\\xff'");
  CHECK(shown(std::string(500, 'x')) == "'" + std::string(80, 'x') + "...'");
}

TEST_CASE("lists split outside parentheses and quotes") {
  CHECK(split_list("a, b ,c").pieces == std::vector<std::string>{"a", "b", "c"});
  CHECK(split_list("(1, 2), \"a, b\"").pieces == std::vector<std::string>{"(1, 2)", "\"a, b\""});
  CHECK(split_list("a,,").pieces == std::vector<std::string>{"a", "", ""});
  for (const auto* text : {"(a", "a)", "\"a", ")("}) CHECK_FALSE(split_list(text).problem.empty());
}

TEST_CASE("names for files") {
  CHECK(file_safe("(8 8 4 4)", 80) == "8-8-4-4");
  CHECK(file_safe("../../etc/passwd", 80) == "etc-passwd");
  CHECK(file_safe("a--b", 80) == "a--b");
  CHECK(file_safe("-.a b.-", 80) == "a-b");
  CHECK(file_safe("a-bcd", 2) == "a");
  CHECK(file_safe("...", 80) == "");
  CHECK(file_safe("abcdef", 3) == "abc");
}

TEST_CASE("numbers keep their signs") {
  CHECK(safe_characters("1e+05") == "1e+05");
  CHECK(safe_characters("-2.5") == "-2.5");
  CHECK(safe_characters("(8 8, 4)") == "8-8-4");
}

TEST_CASE("law: a name for a file is safe, short and stays") {
  REQUIRE(rc::check("any bytes", [](const std::string& text) {
    const auto safe = file_safe(text, 20);
    RC_ASSERT(safe.size() <= 20u);
    RC_ASSERT(safe.find('/') == std::string::npos);
    RC_ASSERT((safe.empty() ||
               (safe.front() != '.' && safe.front() != '-')));  // bare, both sides are evaluated
    RC_ASSERT(file_safe(safe, 20) == safe);
  }));
}

}  // namespace
}  // namespace headcount
