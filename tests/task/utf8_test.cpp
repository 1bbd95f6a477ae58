#include "task/utf8.hpp"

#include <rapidcheck.h>

#include "base/error.hpp"
#include "catch.hpp"

using namespace headcount;
using namespace std::string_literals;

TEST_CASE("well-formed UTF-8 is taken") {
  for (const auto& text : {""s, "plain"s, "£20,000"s, "naïve – “quoted”"s, "\U0001F600"s,
                           "\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF\xF4\x8F\xBF\xBF"s})
    CHECK_NOTHROW(check_utf8(text, "here"));
}

TEST_CASE("ill-formed UTF-8 is refused with its place") {
  const auto refused_at = [](const std::string& text, int offset) {
    CHECK_THROWS_WITH(
        check_utf8(text, "novel.txt"),
        ContainsSubstring("novel.txt") && ContainsSubstring("at offset " + std::to_string(offset)));
  };
  refused_at("ab\x80", 2);             // a continuation without a start
  refused_at("ab\xC3", 2);             // cut off
  refused_at("\xE2\x82", 0);           // cut off
  refused_at("x\xC0\xAF", 1);          // overlong
  refused_at("x\xE0\x9F\xBF", 1);      // overlong
  refused_at("x\xF0\x8F\xBF\xBF", 1);  // overlong
  refused_at("\xED\xA0\x80", 0);       // surrogate
  refused_at("\xF4\x90\x80\x80", 0);   // beyond the last code point
  refused_at("caf\xE9 au lait", 3);    // Latin-1
  refused_at("\xFF\xFEh\0i\0"s, 0);    // UTF-16
  refused_at("h\0i\0"s, 1);            // UTF-16 without a mark
  CHECK_THROWS_WITH(check_utf8("one\ntwo\ncaf\xE9\n", "novel.txt"),
                    ContainsSubstring("novel.txt:3: byte 0xe9 at offset 11 is"));
}

TEST_CASE("code points go through and are counted") {
  REQUIRE(rc::check("round trip", [] {
    const auto raw = *rc::gen::container<std::vector<std::uint32_t>>(
        rc::gen::suchThat(rc::gen::inRange<std::uint32_t>(1, 0x110000),
                          [](std::uint32_t c) { return c < 0xD800 || c > 0xDFFF; }));
    std::string text;
    std::vector<std::size_t> offsets;
    for (const std::uint32_t c : raw) {
      offsets.push_back(text.size());
      append_utf8(text, c);
    }
    check_utf8(text, "here");
    RC_ASSERT(count_code_points(text) == std::ssize(raw));
    std::size_t at = 0;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      RC_ASSERT(offset_of_code_point(text, std::int64_t(i)) == offsets[i]);
      RC_ASSERT(next_code_point(text, at) == raw[i]);
    }
    RC_ASSERT(at == text.size());
    RC_ASSERT(offset_of_code_point(text, std::ssize(raw)) == text.size());
    check_utf8(printable(text), "here");
  }));
}

TEST_CASE("what cannot be seen is escaped") {
  CHECK(printable("a b") == "a b");
  CHECK(printable("\n\t\\") == "\\n\\t\\\\");
  CHECK(printable("\x1b[31m") == "\\u{1b}[31m");
  CHECK(printable("a\u202Eb\u200B\u0085") == "a\\u{202e}b\\u{200b}\\u{85}");
  CHECK(printable("£é") == "£é");
}
