#include "store/writer.hpp"

#include <filesystem>
#include <thread>

#include "base/error.hpp"
#include "base/file.hpp"
#include "catch.hpp"
#include "sample.hpp"
#include "store/h5.hpp"
#include "store/reader.hpp"

namespace headcount {
namespace {

using Integers = std::vector<std::int64_t>;
const VariableInfo kInfo{.long_name = "x", .units = "1"};

// What the error of one publication says; "" when there is none.
std::string complaint(const std::function<void(ResultWriter&)>& fill) {
  const TemporaryFolder folder;
  try {
    publish_result(folder / "x.h5", fill);
  } catch (const Error& error) {
    CHECK(std::filesystem::is_empty(folder.path()));
    return error.what();
  }
  return "";
}

TEST_CASE("every type and shape comes back as it was written") {
  const TemporaryFolder folder;
  publish_result(folder / "a.h5", write_sample);
  const ResultFile file(folder / "a.h5");
  CHECK(file.attribute_integer("/", "schema") == 1);
  CHECK(file.attribute_text("/", "trial_id") == "heads-2-seed-1");
  CHECK(file.attribute_text("/", "source").empty());
  CHECK(file.attribute_text("/", "content_sha256").size() == 64);
  CHECK(file.read_text("/spec/resolved") == "[task]\nkind = language-model\n# größer\n");
  CHECK(file.read_texts("/spec/value") == std::vector<std::string>{"language-model", ""});
  CHECK(file.read<float>("/training/loss") == std::vector<float>{2.5F, 2.25F, 2.125F});
  CHECK(file.read<double>("/training/layer_gradient_norm") == ramp<double>(6, 0.5, 0.25));
  CHECK(file.shape("/training/layer_gradient_norm") == std::vector<std::size_t>{3, 2});
  CHECK(file.read<double>("/training/validation_nll").empty());
  CHECK(file.shape("/training/validation_nll") == std::vector<std::size_t>{0});
  CHECK(file.read_scalar<double>("/evaluation/test/nll") == 2.0625);
  CHECK(file.shape("/evaluation/test/nll").empty());
  const auto nll = file.read<double>("/evaluation/test/example_nll");
  CHECK(nll[0] == 8.5);
  CHECK(std::isnan(nll[1]));
  CHECK(file.read<std::int32_t>("/evaluation/test/example_targets") ==
        std::vector<std::int32_t>{4, 4, 4, 3});
  CHECK(file.read<std::int64_t>("/evaluation/test/example_cluster") == Integers{0, 0, 1, 1});
  CHECK(file.read<std::uint8_t>("/heads/decoder_self/head_state") ==
        std::vector<std::uint8_t>{1, 1, 2, 1, 1, 0});
  CHECK(file.attribute_text("/heads/decoder_self/head_state", "flag_meanings") ==
        "never present removed");
  CHECK(file.attribute_real("/heads/decoder_self/entropy", "spread") == 0.125);
  CHECK(file.attribute_integer("/heads/decoder_self/entropy", "n") == 4);
  CHECK(file.type("/patterns/decoder_self/pattern") == "float16");
  const auto pattern = file.read<double>("/patterns/decoder_self/pattern");
  REQUIRE(pattern.size() == 19200);
  for (std::size_t i = 0; i < pattern.size(); ++i)
    if (pattern[i] != static_cast<double>(i % 2048) / 2) FAIL("value " << i);
  CHECK(file.read_texts("/patterns/decoder_self/tokens")[1] == "ß");
  CHECK(file.read_texts("/labels/method") == std::vector<std::string>{"random", "importance"});
  CHECK(file.read<double>("/labels/rate") == std::vector<double>{0.0, 0.5, 1.0});
}

TEST_CASE("dimensions are the nearest of their name") {
  const TemporaryFolder folder;
  publish_result(folder / "a.h5", [](ResultWriter& writer) {
    writer.dimension("/", "a", Integers{1, 2}, kInfo);
    writer.dimension("/g", "b", std::size_t{3});
    writer.dimension("/g/h", "a", std::size_t{1});
    CHECK(writer.has_dimension("/g/h/i", "b"));
    CHECK_FALSE(writer.has_dimension("/", "b"));
    writer.variable("/g", "x", {"b", "a"}, std::vector<float>(6), kInfo);
    writer.variable("/g/h", "x", {"a", "b"}, std::vector<float>(3), kInfo);
  });
  const ResultFile file(folder / "a.h5");
  CHECK(file.dimensions("/g/x") == std::vector<std::string>{"b", "a"});
  CHECK(file.dimension_path("/g/x", 1) == "/a");
  CHECK(file.dimension_path("/g/h/x", 0) == "/g/h/a");
  CHECK(file.dimensions("/a") == std::vector<std::string>{"a"});
  CHECK(file.has_values("/a"));
  CHECK_FALSE(file.has_values("/g/b"));
  CHECK(file.children("/g") == std::vector<std::string>{"b", "h", "x"});
}

TEST_CASE("what a caller does wrong is refused") {
  const auto with_dimension = [](const auto& then) {
    return complaint([&](ResultWriter& writer) {
      writer.dimension("/g", "n", std::size_t{2});
      then(writer);
    });
  };
  const std::vector<float> two(2);
  CHECK_THAT(with_dimension([&](auto& w) {
               w.variable("/g", "x", {"n", "n"}, two, kInfo);
             }),
             ContainsSubstring("/g/x") && ContainsSubstring("'n' is used twice"));
  CHECK_THAT(with_dimension([&](auto& w) { w.variable("/g", "x", {"m"}, two, kInfo); }),
             ContainsSubstring("no dimension 'm'"));
  CHECK_THAT(with_dimension([&](auto& w) { w.variable("/", "x", {"n"}, two, kInfo); }),
             ContainsSubstring("no dimension 'n'"));
  CHECK_THAT(with_dimension([&](auto& w) { w.variable("/g", "x", {}, two, kInfo); }),
             ContainsSubstring("2 values for [], which has 1"));
  CHECK_THAT(with_dimension([&](auto& w) { w.variable("/g", "x", {"n"}, two, {.units = "1"}); }),
             ContainsSubstring("long_name is missing"));
  CHECK_THAT(
      with_dimension([&](auto& w) { w.variable("/g", "x", {"n"}, two, {.long_name = "x"}); }),
      ContainsSubstring("units are missing"));
  CHECK_THAT(with_dimension([&](auto& w) {
               w.variable("/g", "x", {"n"}, two, {.long_name = "x", .units = "seconds"});
             }),
             ContainsSubstring("write s"));
  CHECK_THAT(with_dimension([&](auto& w) { w.variable("/g", "n", {"n"}, two, kInfo); }),
             ContainsSubstring("a dimension has this name"));
  CHECK_THAT(with_dimension([&](auto& w) {
               w.variable("/g/h", "n", {}, {two.data(), 1}, kInfo);
             }),
             ContainsSubstring("a dimension has this name"));
  CHECK_THAT(with_dimension([&](auto& w) {
               w.scalar("/g", "x", 1.0, kInfo);
               w.scalar("/g", "x", 1.0, kInfo);
             }),
             ContainsSubstring("the name is taken"));
  CHECK_THAT(with_dimension([&](auto& w) { w.dimension("/g", "n", std::size_t{2}); }),
             ContainsSubstring("the name is taken"));
  CHECK_THAT(with_dimension([&](auto& w) { w.scalar("/g", "_x", 1.0, kInfo); }),
             ContainsSubstring("'_x' is not a name"));
  CHECK_THAT(with_dimension([&](auto& w) { w.scalar("g", "x", 1.0, kInfo); }),
             ContainsSubstring("begins with /"));
  CHECK_THAT(with_dimension([&](auto& w) { w.scalar("/g//h", "x", 1.0, kInfo); }),
             ContainsSubstring("'' is not a name"));
  CHECK_THAT(with_dimension([&](auto& w) { w.scalar("/g", "x", std::string("\xff"), kInfo); }),
             ContainsSubstring("not UTF-8"));
  CHECK_THAT(with_dimension([&](auto& w) {
               w.scalar("/g", "x", std::uint8_t{2},
                        {.long_name = "x", .units = "1", .flag_meanings = {"no", "yes"}});
             }),
             ContainsSubstring("the flag 2 has no meaning"));
  CHECK_THAT(with_dimension([&](auto& w) { w.attribute("/", "schema", std::int64_t{2}); }),
             ContainsSubstring("set already"));
  CHECK_THAT(with_dimension([&](auto& w) { w.attribute("/", "content_sha256", std::int64_t{2}); }),
             ContainsSubstring("set already"));
  CHECK_THAT(
      with_dimension([&](auto& w) { w.dimension("/g", "x", std::vector<double>{kNaN}, kInfo); }),
      ContainsSubstring("cannot be NaN"));
}

TEST_CASE("a result is published whole or not at all") {
  const TemporaryFolder folder;
  publish_result(folder / "a.h5", write_sample);
  const auto before = read_file(folder / "a.h5");
  const auto fail_late = [&](ResultWriter& writer) {
    write_sample(writer);
    CHECK(read_file(folder / "a.h5") == before);
    throw std::runtime_error("disk on fire");
  };
  CHECK_THROWS_WITH(publish_result(folder / "a.h5", fail_late), "disk on fire");
  CHECK_THROWS_WITH(publish_result(folder / "b.h5", fail_late), "disk on fire");
  CHECK(read_file(folder / "a.h5") == before);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  CHECK_THROWS_AS(publish_result(folder / "none/a.h5", write_sample), Error);
  CHECK(h5::open_objects({}) == 0);
}

TEST_CASE("the same content gives the same bytes at another time") {
  const TemporaryFolder folder;
  publish_result(folder / "a.h5", write_sample);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  publish_result(folder / "b.h5", write_sample);
  CHECK(read_file(folder / "a.h5") == read_file(folder / "b.h5"));
}

}  // namespace
}  // namespace headcount
