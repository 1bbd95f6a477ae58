#include "spec/spec_text.hpp"

#include "catch.hpp"

namespace headcount {
namespace {

struct Read {
  std::string text;      // "section|key|value@line" for each entry
  std::string problems;  // "" when there are none
};

Read read(std::string_view text) {
  Problems problems;
  const auto spec = read_spec_text(text, "f.ini", problems);
  Read result;
  for (const auto& entry : spec.entries)
    result.text += spec.sections[entry.section].name + "|" + entry.key + "|" + entry.value + "@" +
                   std::to_string(entry.place.line) + "\n";
  try {
    problems.raise();
  } catch (const SpecError& error) {
    result.problems = error.what();
  }
  return result;
}

TEST_CASE("sections, keys, values and lines") {
  const auto spec =
      read("seed = 3\n\n[model]\nlayers=4\n  d-model  =  128  \n[axis]\nmodel.x = 1, 2\n");
  CHECK(spec.problems == "");
  CHECK(spec.text == "|seed|3@1\nmodel|layers|4@4\nmodel|d-model|128@5\naxis|model.x|1, 2@7\n");
}

TEST_CASE("what Boost's parser refuses or mangles is read right") {
  CHECK(read("; comment\n# comment\n  ; comment\na = 1 ; c\nb = 2 # c\n").text ==
        "|a|1@4\n|b|2@5\n");
  CHECK(read("[ model ]\nlayers = 4\n").text == "model|layers|4@2\n");
  CHECK(read("\xef\xbb\xbf[m]\na = 1\n").text == "m|a|1@2\n");
  CHECK(read("[m]\r\na = 1\r\n\r\nb = 2").text == "m|a|1@2\nm|b|2@4\n");
  CHECK(read("a = x#y%23%25%\n").text == "|a|x#y%23%25%@1\n");
  CHECK(read("a = b = c\n").text == "|a|b = c@1\n");
  CHECK(read("a =\n").text == "|a|@1\n");
  CHECK(read("a = \"b c\"\n").text == "|a|\"b c\"@1\n");
  CHECK(read("[m]\na = 1\n[n]\nb = 2\n[m]\nc = 3\n").text == "m|a|1@2\nn|b|2@4\nm|c|3@6\n");
  CHECK(read("").text == "");
}

TEST_CASE("what cannot be read is refused with its line") {
  CHECK(read("\n[]\n").problems ==
        "f.ini:2: '[]' is not a section; write [name], of letters, digits, '-', '_' and '.'");
  for (const auto* section : {"[", "[ ]", "[a", "[a] b", "[a b]", "[a][b]", "[.]", "[a.]", "]["})
    CHECK_THAT(read(section).problems, ContainsSubstring("f.ini:1: "));
  CHECK(read("a = 1\nlayers 4\n").problems ==
        "f.ini:2: 'layers 4' is neither [section] nor key = value");
  CHECK_THAT(read("= 4\n").problems, ContainsSubstring("f.ini:1: '' cannot be a key"));
  CHECK_THAT(read("a b = 4\n").problems, ContainsSubstring("'a b' cannot be a key"));
  CHECK_THAT(read("a* = 4\n").problems, ContainsSubstring("'a*' cannot be a key"));
  CHECK(read("x = \"a\nb = c\"\n").problems ==
        "f.ini:1: a double quote is not closed\nf.ini:2: a double quote is not closed");
  CHECK_THAT(read("name = \"a # b\"\n").problems, ContainsSubstring("f.ini:1: '#' inside quotes"));
  CHECK(read(std::string_view("a = 1\nb = \0\n", 12)).problems ==
        "f.ini:2: a control character (byte 0x00) in column 5");
  CHECK_THAT(read("a = \xff\xfe\n").problems, ContainsSubstring("f.ini:1: not UTF-8 text"));
}

TEST_CASE("keys below a section that cannot be read do not fall to the one above") {
  const auto spec = read("[model]\nlayers = 1\n[oops\nlayers = 2\n");
  CHECK(spec.text == "model|layers|1@2\n?|layers|2@4\n");
}

TEST_CASE("sizes beyond all reason are refused") {
  CHECK_THAT(read("a = " + std::string(1 << 17, 'x')).problems,
             ContainsSubstring("f.ini:1: the line is longer than 65536 bytes"));
  CHECK_THAT(read(std::string((1 << 20) + 1, '\n')).problems,
             ContainsSubstring("f.ini: a spec has at most 1048576 bytes"));
  CHECK_THAT(read(std::string(30000, '\n')).problems,
             ContainsSubstring("f.ini:20001: a spec has at most 20000 lines"));
}

}  // namespace
}  // namespace headcount
