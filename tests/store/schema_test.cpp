#include "store/schema.hpp"

#include "catch.hpp"
#include "laws.hpp"

namespace headcount {
namespace {

TEST_CASE("everything but time and place is content") {
  CHECK(is_content("/"));
  CHECK(is_content("/training/loss"));
  CHECK(is_content("/timings"));
  CHECK(is_content("/a/timing"));
  CHECK_FALSE(is_content("/timing"));
  CHECK_FALSE(is_content("/timing/wall"));
  CHECK_FALSE(is_content("/provenance/host"));
}

TEST_CASE("names of measures become names of datasets") {
  CHECK(dataset_name("importance.gradient") == "importance_gradient");
  CHECK(dataset_name("a-b.c_d") == "a_b_c_d");
}

TEST_CASE("text that no reader can decode is told and mended") {
  const std::string mark = "\xEF\xBF\xBD";
  CHECK(is_readable_text("aß€😀\n"));
  for (const std::string& bad :
       {std::string("\0", 1), std::string("\x80"), std::string("\xC0\xAF"), std::string("\xE2\x82"),
        std::string("\xED\xA0\x80"), std::string("\xF4\x90\x80\x80"), std::string("\xE0\x80\x80")})
    CHECK_FALSE(is_readable_text(bad));
  CHECK(readable_text(std::string("a\0\xFF"
                                  "b",
                                  4)) == "a" + mark + mark + "b");
  CHECK(readable_text("aß€😀") == "aß€😀");
  REQUIRE(rc::check([](const std::string& bytes) {
    const auto text = readable_text(bytes);
    RC_ASSERT(is_readable_text(text));
    RC_ASSERT(is_readable_text(bytes) == (text == bytes));
  }));
}

}  // namespace
}  // namespace headcount
