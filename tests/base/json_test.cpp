#include "base/json.hpp"

#include <string>

#include "catch.hpp"

namespace headcount {
namespace {

TEST_CASE("objects keep the order of their keys") {
  CHECK(to_text({{"steps", 3}, {"loss", 0.5}, {"heads", {1, 2}}}) ==
        R"({"steps":3,"loss":0.5,"heads":[1,2]})");
  CHECK(to_text(parse_json(R"({"b": 1, "a": [true, null]})"), 1) ==
        "{\n \"b\": 1,\n \"a\": [\n  true,\n  null\n ]\n}");
}

TEST_CASE("a number comes back with its bits") {
  for (const double value : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308})
    CHECK(parse_json(to_text(value)).get<double>() == value);
}

TEST_CASE("what is no JSON is discarded, and asking it throws") {
  for (const char* text : {"", "{", "{\"a\": 1", "nan", "[1,]", "{} {}", "\"\xFF\""}) {
    CAPTURE(text);
    const auto json = parse_json(text);
    CHECK(json.is_discarded());
    CHECK_FALSE(json.is_object());
    CHECK_THROWS_AS(json.at("a"), Json::exception);
  }
}

TEST_CASE("bytes that are no UTF-8 are replaced") {
  CHECK(to_text("caf\xE9 du nord") == "\"caf\xEF\xBF\xBD du nord\"");
}

}  // namespace
}  // namespace headcount
