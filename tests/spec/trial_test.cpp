#include "spec/trial.hpp"

#include <cctype>

#include "catch.hpp"
#include "spec/laws.hpp"
#include "spec/sample.hpp"

namespace headcount {
namespace {

TEST_CASE("slugs are axis values, safe as file names") {
  CHECK(slug_of({{"model.heads", "8"}, {"seed", "1"}}, "x") == "heads-8_seed-1");
  CHECK(slug_of({{"model.heads", "(8 8 4 4)"}}, "x") == "heads-8-8-4-4");
  CHECK(slug_of({{"task.data", "file:../../etc/passwd"}}, "x") == "data-file-..-..-etc-passwd");
  CHECK(slug_of({{"seed.init", "1"}, {"model.init", "gaussian"}, {"seed", "2"}}, "x") ==
        "seed.init-1_model.init-gaussian_seed-2");
  CHECK(slug_of({{"train.rate", "1e+05"}, {"model.bias", "-2.5"}}, "x") == "rate-1e+05_bias--2.5");
  CHECK(slug_of({}, "head-count") == "head-count");
}

TEST_CASE("a trial id depends on settings and data and nothing else") {
  const auto settings = [](int seed) {
    return parse("seed = " + std::to_string(seed) + "\n" + kSampleData).trials[0].settings;
  };
  const auto id = trial_id("seed-1", settings(1), "data");
  CHECK(id.substr(0, 7) == "seed-1-");
  CHECK(id.size() == 7 + 12);
  CHECK(id.find_first_not_of("0123456789abcdef", 7) == std::string::npos);
  CHECK(id == trial_id("seed-1", settings(1), "data"));
  CHECK(id != trial_id("seed-1", settings(2), "data"));
  CHECK(id != trial_id("seed-1", settings(1), "other data"));
}

TEST_CASE("trial ids stay what they are") {
  Settings settings;
  settings.add({"seed", ValueKind::integer, "1"});
  settings.add({"model.heads", ValueKind::integers, "8"});
  // sha256 of "seed = 1\n\n[model]\nheads = 8\ndata_hash = abc\n"
  CHECK(trial_id("heads-8", settings, "abc") == "heads-8-8ea756abcaf0");
}

TEST_CASE("the words of an experiment are no part of a trial's id") {
  const auto id = [](const std::string& words) {
    return trial_id("x", parse(words + kSampleData).trials[0].settings, "data");
  };
  CHECK(id("") == id("[experiment]\nname = other\nquestion = Is it so?\n"));
}

TEST_CASE("law: slugs are file names whatever the values") {
  REQUIRE(rc::check("any values", [](const std::vector<std::string>& values) {
    Point point;
    for (const auto& value : values) point.emplace_back("task.data", value);
    const auto slug = slug_of(point, "experiment");
    RC_ASSERT(!slug.empty());
    RC_ASSERT(slug.size() <= 80u);
    RC_ASSERT(slug.front() != '.');
    for (const char c : slug)
      RC_ASSERT(std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-' ||
                c == '+');
  }));
}

}  // namespace
}  // namespace headcount
