#include "spec/schema.hpp"

#include "base/error.hpp"
#include "catch.hpp"
#include "spec/sample.hpp"

namespace headcount {
namespace {

TEST_CASE("keys stand by section, those above all sections first") {
  const Schema schema({{"b.x", type::integer(0), "1", ""},
                       {"a.x", type::integer(0), "1", ""},
                       {"b.deep.y", type::real("[0, 1]"), "0.50", ""},
                       {"top", type::boolean(), "true", ""}});
  std::vector<std::string> names;
  for (const auto& key : schema.keys()) names.push_back(key.name);
  CHECK(names == std::vector<std::string>{"seed", "top", "experiment.name", "experiment.question",
                                          "experiment.source", "experiment.max-trials", "b.x",
                                          "b.deep.y", "a.x"});
  CHECK(schema.sections() == std::vector<std::string>{"experiment", "b", "a"});
  CHECK(schema.has_section("b.deep"));
  CHECK_FALSE(schema.has_section("b.x"));
  CHECK_FALSE(schema.has_section("to"));
  CHECK(schema.find("b.deep.y")->fallback.text() == "0.5");
  CHECK(schema.find("b.deep.y")->leaf() == "deep.y");
  CHECK(schema.find("b.z") == nullptr);
}

TEST_CASE("the key that was meant is suggested, also from another section") {
  const auto schema = sample_schema();
  CHECK(schema.suggest("model.layres") == "; did you mean 'model.layers'?");
  CHECK(schema.suggest("train.layers") == "; did you mean 'model.layers'?");
  CHECK(schema.suggest("completely.different.thing") == "");
}

TEST_CASE("a schema that contradicts itself is a bug of ours") {
  const auto make = [](std::vector<Key> keys) { Schema schema(std::move(keys)); };
  const Key good{"a.x", type::integer(0, 9), "1", ""};
  CHECK_NOTHROW(make({good}));
  CHECK_THROWS_AS(make({good, good}), Error);
  CHECK_THROWS_AS(make({{"a.x", type::integer(0, 9), "10", ""}}), Error);
  CHECK_THROWS_AS(make({{"a.x", type::integer(0, 9), "", ""}}), Error);
  CHECK_THROWS_AS(make({{"axis.x", type::integer(0), "1", ""}}), Error);
  CHECK_THROWS_AS(make({{"claim.x", type::integer(0), "1", ""}}), Error);
  CHECK_THROWS_AS(make({{"a b", type::integer(0), "1", ""}}), Error);
  CHECK_THROWS_AS(make({{"seed", type::integer(0), "1", ""}}), Error);
  CHECK_THROWS_AS(make({{"a.y", type::integer(0, 9), Default::same_as("a.z"), ""}}), Error);
  CHECK_THROWS_AS(make({good, {"a.y", type::real("[0, 9]"), Default::same_as("a.x"), ""}}), Error);
  CHECK_THROWS_AS(make({{"a.y", type::integer(0), Default::same_as("a.y"), ""}}), Error);
  CHECK_NOTHROW(make({good, {"a.y", type::integer(0, 9), Default::same_as("a.x"), ""}}));
  const auto by = [&](const char* key, const char* value, const char* fallback,
                      const char* otherwise) {
    make({good,
          {"a.y", type::real("[0, 9]"), Default::by(key, {{value, fallback}}, otherwise), ""}});
  };
  CHECK_NOTHROW(by("a.x", "3", "0.5", "1"));
  CHECK_THROWS_AS(by("a.z", "3", "0.5", "1"), Error);
  CHECK_THROWS_AS(by("a.y", "3", "0.5", "1"), Error);
  CHECK_THROWS_AS(by("a.x", "10", "0.5", "1"), Error);
  CHECK_THROWS_AS(by("a.x", "03", "0.5", "1"), Error);  // would never be equal
  CHECK_THROWS_AS(by("a.x", "3", "10", "1"), Error);
  CHECK_THROWS_AS(by("a.x", "3", "0.5", "0.50"), Error);
}

}  // namespace
}  // namespace headcount
