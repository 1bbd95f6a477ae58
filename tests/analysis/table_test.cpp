#include "analysis/table.hpp"

#include <limits>
#include <string>

#include "base/error.hpp"
#include "base/json.hpp"
#include "catch.hpp"

namespace headcount {
namespace {

Table sample() {
  Table table({"name", "n", "nll"});
  table.add_row({std::string("one"), std::int64_t{5}, 1.0 / 3});
  table.add_row({std::string("größer"), std::int64_t{12}, Cell()});
  return table;
}

Table with(const std::string& text) {
  Table table({"text", "other"});
  table.add_row({text, std::string("x")});
  return table;
}

TEST_CASE("text is aligned: numbers right, words left, by characters and not bytes") {
  CHECK(render(sample(), TableFormat::text) ==
        "name     n      nll\n"
        "one      5  0.33333\n"
        "größer  12        -\n");
}

TEST_CASE("csv quotes what RFC 4180 asks for and keeps all digits") {
  CHECK(render(sample(), TableFormat::csv) == "name,n,nll\none,5,0.3333333333333333\ngrößer,12,\n");
  CHECK(render(with("a,b"), TableFormat::csv) == "text,other\n\"a,b\",x\n");
  CHECK(render(with("say \"a\""), TableFormat::csv) == "text,other\n\"say \"\"a\"\"\",x\n");
  CHECK(render(with("two\nlines"), TableFormat::csv) == "text,other\n\"two\nlines\",x\n");
}

TEST_CASE("json keeps types, order and digits") {
  const std::string text = render(sample(), TableFormat::json);
  const auto json = parse_json(text);
  REQUIRE(json.size() == 2);
  CHECK(json[0].begin().key() == "name");
  CHECK(json[0]["n"].is_number_integer());
  CHECK(json[0]["nll"].get<double>() == 1.0 / 3);
  CHECK(json[1]["name"] == "größer");
  CHECK(json[1]["nll"].is_null());
}

TEST_CASE("json stays valid for numbers and bytes it has no form for") {
  Table table({"a", "b"});
  table.add_row({std::numeric_limits<double>::quiet_NaN(), std::string("\xff\x01")});
  const auto json = parse_json(render(table, TableFormat::json));
  CHECK(json[0]["a"].is_null());
  CHECK(json[0]["b"].is_string());
}

TEST_CASE("markdown is a pipe table without foreign markup") {
  CHECK(render(sample(), TableFormat::markdown) ==
        "| name | n | nll |\n| --- | ---: | ---: |\n| one | 5 | 0.33333 |\n| größer | 12 | - |\n");
  CHECK(render(with("a|b *c* <img> \\"), TableFormat::markdown) ==
        "| text | other |\n| --- | --- |\n| a\\|b \\*c\\* \\<img\\> \\\\ | x |\n");
}

TEST_CASE("text from data cannot steer a terminal or break a line") {
  for (const auto format : {TableFormat::text, TableFormat::markdown}) {
    const std::string text = render(with("\x1b[2Jx\ny"), format);
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK_THAT(text, ContainsSubstring("x1b"));
    CHECK_THAT(text, ContainsSubstring("x0ay"));
  }
}

TEST_CASE("a row of the wrong length and an unknown format are errors") {
  Table table({"a", "b"});
  CHECK_THROWS_AS(table.add_row({Cell()}), Error);
  CHECK(parse_table_format("markdown") == TableFormat::markdown);
  CHECK_THROWS_WITH(parse_table_format("jsn"), ContainsSubstring("did you mean 'json'"));
}

}  // namespace
}  // namespace headcount
