#include "base/text.hpp"

#include <cmath>
#include <limits>

#include <rapidcheck.h>

#include "base/registry.hpp"
#include "catch.hpp"

using namespace headcount;

TEST_CASE("trim and split") {
  CHECK(trim(" \t a b\r\n") == "a b");
  CHECK(trim("  ").empty());
  CHECK(split("", ',').empty());
  CHECK(split(" , ", ',') == std::vector<std::string>{"", ""});
  CHECK(split("a, b ,,c", ',') == std::vector<std::string>{"a", "b", "", "c"});
  CHECK(join({"a", "b", "c"}, ", ") == "a, b, c");
  CHECK(join({}, ", ").empty());
  CHECK(join({"a", "a"}, "-") == "a-a");
}

TEST_CASE("numbers are read whole or not at all") {
  CHECK(parse_integer("-12") == -12);
  CHECK(parse_integer("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  for (const char* wrong : {"", " 1", "1 ", "+1", "1.0", "0x10", "9223372036854775808", "one"})
    CHECK_FALSE(parse_integer(wrong));
  CHECK(parse_real("1e-3") == 1e-3);
  CHECK(parse_real("-0.5") == -0.5);
  for (const char* wrong : {"", "1,5", "inf", "nan", "1e999", "1.5x", " 1"})
    CHECK_FALSE(parse_real(wrong));
  CHECK(parse_boolean("yes") == true);
  CHECK(parse_boolean("off") == false);
  for (const char* wrong : {"", "Yes", "1", "y"}) CHECK_FALSE(parse_boolean(wrong));
}

TEST_CASE("shortest reads back to the same number") {
  CHECK(shortest(0.1) == "0.1");
  CHECK(rc::check([](double x) { RC_ASSERT(parse_real(shortest(x)) == x); }));
}

TEST_CASE("edit distance") {
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(rc::check([](const std::string& a, const std::string& b) {
    const auto d = edit_distance(a, b);
    RC_ASSERT(d == edit_distance(b, a));
    RC_ASSERT((d == 0) == (a == b));
    RC_ASSERT(d <= std::max(a.size(), b.size()));
  }));
}

TEST_CASE("only what is near is suggested") {
  const std::vector<std::string> known{"model.layers", "model.heads"};
  CHECK(nearest("model.layres", known) == "model.layers");
  CHECK_FALSE(nearest("xyz", known));
  CHECK(did_you_mean("model.head", known) == "; did you mean 'model.heads'?");
  CHECK(did_you_mean("xyz", known).empty());
}

TEST_CASE("a registry finds by name, or says what it knows") {
  struct Entry {
    About about;
  };
  const Registry<Entry> registry("animal", {{{"cat", "purrs", ""}}, {{"dog", "barks", ""}}});
  CHECK(registry.at("dog").about.definition == "barks");
  CHECK(registry.names() == std::vector<std::string>{"cat", "dog"});
  CHECK_THROWS_WITH(registry.at("dogg"),
                    "unknown animal 'dogg'; did you mean 'dog'? (known: cat, dog)");
}
