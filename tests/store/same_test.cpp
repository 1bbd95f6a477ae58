#include "store/same.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

#include "catch.hpp"
#include "laws.hpp"
#include "sample.hpp"
#include "store/reader.hpp"

namespace headcount {
namespace {

const VariableInfo kInfo{.long_name = "x", .units = "1"};

std::string content_hash(const std::filesystem::path& path) {
  return ResultFile(path).attribute_text("/", "content_sha256");
}

// A trial file as data, so that it can be changed anywhere.
struct Recipe {
  std::map<std::string, std::vector<double>> reals{{"a", {1.0, kNaN}}, {"b", {0.0, 2.0}}};
  std::map<std::string, std::vector<std::int64_t>> integers{{"c", {1, 2}}};
  std::map<std::string, std::vector<std::string>> texts{{"d", {"", "ß"}}, {"e", {"x", "y"}}};
  std::map<std::string, std::string> attributes{{"trial_id", "t"}, {"source", ""}};
  std::string units = "1";
  std::string dimension = "n";
  bool coordinates = false;
  bool float32 = false;
  bool chunked = false;
  bool backwards = false;  // the order of creation
};

std::vector<float> narrow(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

void write(ResultWriter& writer, const Recipe& recipe) {
  const VariableInfo info{.long_name = "x", .units = recipe.units};
  for (const auto& [name, value] : recipe.attributes) writer.attribute("/", name, value);
  if (recipe.coordinates)
    writer.dimension("/", recipe.dimension, std::vector<std::int64_t>{0, 1}, info);
  else
    writer.dimension("/", recipe.dimension, std::size_t{2});
  const std::vector<std::string> axes{recipe.dimension};
  std::vector<std::function<void()>> steps;
  for (const auto& [name, values] : recipe.reals)
    steps.emplace_back([&writer, &recipe, &axes, &info, &name = name, &values = values] {
      if (recipe.float32)
        writer.variable("/g", name, axes, narrow(values), info);
      else
        writer.variable("/g", name, axes, values, info);
    });
  for (const auto& [name, values] : recipe.integers)
    steps.emplace_back([&writer, &axes, &info, &name = name, &values = values] {
      writer.variable("/", name, axes, values, info);
    });
  for (const auto& [name, values] : recipe.texts)
    steps.emplace_back([&writer, &axes, &info, &name = name, &values = values] {
      writer.variable("/h", name, axes, values, info);
    });
  if (recipe.backwards) std::reverse(steps.begin(), steps.end());
  for (const auto& step : steps) step();
  writer.dimension("/maps", "q", std::size_t{200});
  writer.dimension("/maps", "k", std::size_t{200});
  writer.variable("/maps", "map", {"q", "k"}, ramp<float>(40000, 0.0F, 1.0F),
                  {.long_name = "map", .units = "1", .chunk_axes = recipe.chunked ? 1U : 0U});
}

// One change to the content.
void mutate(Recipe& recipe) {
  const auto place = *rc::gen::inRange<std::size_t>(0, 2);
  const auto bit = std::uint64_t{1} << *rc::gen::inRange(0, 64);
  switch (*rc::gen::inRange(0, 11)) {
    case 0: {
      std::uint64_t bits = 0;
      auto& value = recipe.reals["a"][place];
      std::memcpy(&bits, &value, sizeof bits);
      bits ^= bit;
      std::memcpy(&value, &bits, sizeof bits);
      break;
    }
    case 1:
      recipe.integers["c"][place] ^= static_cast<std::int64_t>(bit);
      break;
    case 2:
      recipe.texts["d"][place] += *rc::gen::element<std::string>("z", " ", "\n");
      break;
    case 3:
      std::swap(recipe.texts["e"][0], recipe.texts["e"][1]);
      break;
    case 4:
      recipe.attributes[*rc::gen::element<std::string>("trial_id", "source", "new")] += "+";
      break;
    case 5:
      recipe.units = "nat";
      break;
    case 6:
      recipe.dimension = "m";
      break;
    case 7:
      recipe.coordinates = true;
      break;
    case 8:
      recipe.float32 = true;
      break;
    case 9:
      recipe.reals.erase("b");
      break;
    default:
      recipe.integers["new"] = {0, 0};
  }
}

TEST_CASE("whatever is changed, the hash and the comparison both notice") {
  const TemporaryFolder folder;
  publish_result(folder / "a.h5", [](ResultWriter& writer) { write(writer, {}); });
  const auto hash = content_hash(folder / "a.h5");
  REQUIRE(rc::check([&] {
    Recipe recipe;
    recipe.backwards = *rc::gen::arbitrary<bool>();
    recipe.chunked = *rc::gen::arbitrary<bool>();
    const bool changed = *rc::gen::inRange(0, 5) > 0;
    if (changed) mutate(recipe);
    publish_result(folder / "b.h5", [&](ResultWriter& writer) { write(writer, recipe); });
    RC_ASSERT(!validate(folder / "b.h5"));
    RC_ASSERT((content_hash(folder / "b.h5") != hash) == changed);
    RC_ASSERT(same(folder / "a.h5", folder / "b.h5").empty() == !changed);
    RC_ASSERT(same(folder / "b.h5", folder / "a.h5").empty() == !changed);
  }));
}

TEST_CASE("differences say where and what") {
  const TemporaryFolder folder;
  const auto publish = [&](const std::string& name, float last, const std::string& extra,
                           double wall) {
    publish_result(folder / name, [&](ResultWriter& writer) {
      writer.attribute("/", "trial_id", name);
      writer.dimension("/", "row", std::size_t{2});
      writer.dimension("/", "col", std::size_t{3});
      writer.variable("/g", "x", {"row", "col"}, std::vector<float>{0, 1, 2, 3, last, last}, kInfo);
      writer.scalar("/g", extra, std::int64_t{1}, kInfo);
      writer.scalar("/timing", "wall", wall, {.long_name = "time", .units = "s"});
      writer.scalar("/provenance", "host", name, kInfo);
    });
  };
  publish("a.h5", 4.0F, "y", 1.0);
  publish("b.h5", 4.5F, "z", 2.0);
  const auto differences = same(folder / "a.h5", folder / "b.h5");
  REQUIRE(differences.size() == 4);
  CHECK(differences[0].path == "/");
  CHECK(differences[0].what == "attribute trial_id: \"a.h5\" and \"b.h5\"");
  CHECK(differences[1].path == "/g/x");
  CHECK(differences[1].what == "2 of 6 values, first at [1, 1]: 4 and 4.5");
  CHECK(differences[2].path == "/g/y");
  CHECK(differences[2].what == "only in the first file");
  CHECK(differences[3].path == "/g/z");
  CHECK(differences[3].what == "only in the second file");
  CHECK(same(folder / "a.h5", folder / "b.h5", 2).size() == 2);

  publish("c.h5", 4.0F, "y", 3.0);
  publish_result(folder / "d.h5", [](ResultWriter& writer) {
    writer.attribute("/", "trial_id", std::string("c.h5"));
    writer.dimension("/", "row", std::size_t{2});
    writer.dimension("/", "col", std::size_t{3});
    writer.variable("/g", "x", {"col", "row"}, std::vector<double>(6), kInfo);
    writer.scalar("/g", "y", 1.0, kInfo);
  });
  const auto others = same(folder / "c.h5", folder / "d.h5");
  std::vector<std::string> told;
  for (const auto& difference : others) told.push_back(difference.path + ": " + difference.what);
  CHECK(told ==
        std::vector<std::string>{"/g/x: attribute _FillValue: type float32 and float64",
                                 "/g/x: dimensions [\"/row\", \"/col\"] and [\"/col\", \"/row\"]",
                                 "/g/x: type float32 and float64",
                                 "/g/y: attribute _FillValue: only in the "
                                 "second file",
                                 "/g/y: type int64 and float64"});
}

TEST_CASE("halves differ in their bits and are told as numbers") {
  const TemporaryFolder folder;
  const auto publish = [&](const std::string& name, Half second) {
    publish_result(folder / name, [&](ResultWriter& writer) {
      writer.dimension("/", "row", std::size_t{2});
      const std::vector<Half> values{to_half(0.5F), second};
      writer.variable("/g", "x", {"row"}, std::span<const Half>(values), kInfo);
    });
  };
  publish("a.h5", to_half(0.25F));
  publish("b.h5", kHalfNaN);
  CHECK(same(folder / "a.h5", folder / "a.h5").empty());
  const auto differences = same(folder / "a.h5", folder / "b.h5");
  REQUIRE(differences.size() == 1);
  CHECK(differences[0].what == "1 of 2 values, first at [1]: 0.25 and NaN (007e)");
  CHECK_THROWS_WITH(ResultFile(folder / "a.h5").read<std::int64_t>("/g/x"),
                    ContainsSubstring("holds float16, which is not converted to int64"));
}

TEST_CASE("time and place do not count") {
  const TemporaryFolder folder;
  for (const double wall : {1.0, 2.0})
    publish_result(folder / fmt::format("{}.h5", wall), [&](ResultWriter& writer) {
      writer.scalar("/timing/stage", "wall", wall, {.long_name = "time", .units = "s"});
      writer.scalar("/provenance", wall == 1.0 ? "a" : "b", wall, kInfo);
      writer.scalar("/timings", "x", 1.0, kInfo);
    });
  CHECK(same(folder / "1.h5", folder / "2.h5").empty());
  CHECK(content_hash(folder / "1.h5") == content_hash(folder / "2.h5"));
}

}  // namespace
}  // namespace headcount
