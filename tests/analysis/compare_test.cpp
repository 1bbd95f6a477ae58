#include "analysis/compare.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <rapidcheck.h>

#include "base/error.hpp"
#include "catch.hpp"

namespace headcount {
namespace {

using Settings = std::map<std::string, std::string>;

TrialRow trial(Settings settings, double nll) {
  std::string id;
  for (const auto& [key, value] : settings) id += key + "=" + value + ";";
  settings["model.layers"] = "4";  // the same in all
  return {.id = id,
          .settings = std::move(settings),
          .metrics = {{"nll", {nll, "test", "mean negative log-likelihood", "nat/target"}}}};
}

std::vector<TrialRow> heads_by_seed() {
  std::vector<TrialRow> trials;
  const double nll[3][3] = {{2.0, 2.2, 2.1}, {1.5, 1.8, 1.5}, {1.6, 1.7, 1.8}};
  const char* heads[3] = {"1", "8", "16"};
  for (int seed = 0; seed < 3; ++seed)
    for (int h = 0; h < 3; ++h)
      trials.push_back(
          trial({{"model.heads", heads[h]}, {"seed", fmt::format("{}", seed)}}, nll[h][seed]));
  return trials;
}

CompareOptions by_heads(std::optional<std::string> baseline = {}) {
  return {.by = {"model.heads"}, .metrics = {"nll"}, .baseline = std::move(baseline)};
}

std::vector<std::string> group_names(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const auto& group : comparison.metrics.at(0).groups) names.push_back(group.values.at(0));
  return names;
}

TEST_CASE("groups, means and paired differences of a head sweep") {
  const auto result = compare(heads_by_seed(), by_heads("8"));
  REQUIRE(result.metrics.size() == 1);
  CHECK(group_names(result) == std::vector<std::string>{"1", "8", "16"});
  CHECK(result.metrics[0].about.split == "test");

  const auto& one = result.metrics[0].groups[0];
  CHECK(one.summary.n == 3);
  CHECK(one.summary.mean == Approx(2.1));
  CHECK(one.summary.standard_deviation == Approx(0.1));
  REQUIRE(one.difference);
  CHECK(one.difference->difference.n == 3);
  CHECK(one.difference->difference.mean == Approx(0.5));  // 0.5, 0.4, 0.6
  CHECK(one.difference->difference.standard_deviation == Approx(0.1));
  CHECK(one.difference->sign_flip->p == 0.25);

  CHECK(result.metrics[0].groups[1].is_baseline);
  CHECK_FALSE(result.metrics[0].groups[1].difference);
  CHECK(result.metrics[0].groups[2].difference->difference.mean == Approx(0.1));
  CHECK(result.notes.empty());
  CHECK(result.excluded.empty());
}

TEST_CASE("without a baseline there are no differences") {
  const auto result = compare(heads_by_seed(), by_heads());
  for (const auto& group : result.metrics[0].groups) CHECK_FALSE(group.difference);
  CHECK(to_table(result).columns().back() == "sd");
}

TEST_CASE("a missing partner shortens the pairs, not the group") {
  auto trials = heads_by_seed();
  trials.erase(trials.begin() + 1);  // 8 heads, seed 0
  const auto result = compare(trials, by_heads("8"));
  const auto& one = result.metrics[0].groups[0];
  CHECK(one.summary.n == 3);
  CHECK(one.difference->difference.n == 2);
  CHECK(one.difference->difference.mean == Approx(0.5));  // 0.4, 0.6
}

TEST_CASE("pairs agree in every other swept setting") {
  std::vector<TrialRow> trials;
  for (const char* init : {"orthogonal", "xavier"})
    for (const char* seed : {"1", "2"}) {
      const double base = std::string(init) == "xavier" ? 1 : 5;
      const double noise = std::string(seed) == "1" ? 0 : 0.5;
      trials.push_back(
          trial({{"model.heads", "1"}, {"model.init", init}, {"seed", seed}}, base + noise + 0.25));
      trials.push_back(
          trial({{"model.heads", "2"}, {"model.init", init}, {"seed", seed}}, base + noise));
    }
  const auto result = compare(trials, by_heads("2"));
  const auto& difference = result.metrics[0].groups[0].difference->difference;
  CHECK(difference.n == 4);
  CHECK(difference.mean == Approx(0.25));
  CHECK(difference.standard_deviation == Approx(0).margin(1e-12));
  REQUIRE(result.notes.size() == 1);
  CHECK_THAT(result.notes[0], ContainsSubstring("model.init differs within groups"));

  auto both = by_heads("2,xavier");
  both.by.emplace_back("model.init");
  const auto apart = compare(trials, both);
  REQUIRE(apart.metrics[0].groups.size() == 4);
  CHECK(apart.metrics[0].groups[0].values == std::vector<std::string>{"1", "orthogonal"});
  CHECK(apart.metrics[0].groups[0].difference->difference.mean == Approx(4.25));
  CHECK(apart.notes.empty());
}

TEST_CASE("zipped keys move with the key and do not prevent pairs, a seed always does") {
  std::vector<TrialRow> trials;
  for (const char* seed : {"1", "2"}) {
    trials.push_back(trial({{"model.heads", "1"}, {"model.d-model", "64"}, {"seed", seed}}, 3));
    trials.push_back(trial({{"model.heads", "2"}, {"model.d-model", "128"}, {"seed", seed}}, 2));
  }
  const auto zipped = compare(trials, by_heads("2"));
  CHECK(zipped.metrics[0].groups[0].difference->difference.n == 2);
  REQUIRE(zipped.notes.size() == 1);
  CHECK_THAT(zipped.notes[0], ContainsSubstring("model.d-model moves with model.heads"));

  const std::vector<TrialRow> strangers{trial({{"model.heads", "1"}, {"seed", "1"}}, 3),
                                        trial({{"model.heads", "2"}, {"seed", "2"}}, 2)};
  CHECK_FALSE(compare(strangers, by_heads("2")).metrics[0].groups[0].difference);
}

TEST_CASE("values that are not all numbers sort as text, numbers by value") {
  const auto order = [](const std::vector<std::string>& values) {
    std::vector<TrialRow> trials;
    for (const auto& value : values) trials.push_back(trial({{"model.heads", value}}, 1));
    return group_names(compare(trials, by_heads()));
  };
  CHECK(order({"10", "1e-3", "9"}) == std::vector<std::string>{"1e-3", "9", "10"});
  CHECK(order({"10", "none", "9"}) == std::vector<std::string>{"10", "9", "none"});
}

TEST_CASE("trials that cannot count are named, not dropped") {
  auto trials = heads_by_seed();
  trials[0].metrics["nll"].value = std::numeric_limits<double>::quiet_NaN();
  trials[4].metrics.clear();
  const auto result = compare(trials, by_heads("8"));
  REQUIRE(result.excluded.size() == 2);
  CHECK(result.excluded[0].trial == trials[0].id);
  CHECK(result.excluded[0].reason == "nll is nan");
  CHECK(result.excluded[1].reason == "has no nll");
  CHECK(result.metrics[0].groups[0].summary.n == 2);
  const auto lines = remarks(result);
  CHECK_THAT(lines.back(), ContainsSubstring("has no nll"));
}

TEST_CASE("a baseline without one usable trial is told") {
  auto trials = heads_by_seed();
  for (auto& row : trials)
    if (row.settings["model.heads"] == "8") row.metrics["nll"].value = INFINITY;
  const auto result = compare(trials, by_heads("8"));
  REQUIRE(result.notes.size() == 1);
  CHECK_THAT(result.notes[0], ContainsSubstring("no trial of the baseline"));
}

TEST_CASE("numbers that mean different things are not compared") {
  const auto refusal = [](void (*change)(TrialScore&)) {
    auto trials = heads_by_seed();
    change(trials.back().metrics["nll"]);
    try {
      compare(trials, by_heads());
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(refusal([](TrialScore& m) { m.split = "validation"; }),
             ContainsSubstring("its split is"));
  CHECK_THAT(refusal([](TrialScore& m) { m.definition = "sum"; }),
             ContainsSubstring("its definition is"));
  CHECK_THAT(refusal([](TrialScore& m) { m.unit = "bit"; }), ContainsSubstring("its unit is"));
}

TEST_CASE("what is not there is an error that helps") {
  const auto trials = heads_by_seed();
  CHECK_THROWS_AS(compare({}, by_heads()), Error);
  CHECK_THROWS_AS(compare(trials, {.by = {}, .metrics = {"nll"}, .baseline = {}}), Error);
  CHECK_THROWS_AS(compare(trials, {.by = {"seed"}, .metrics = {}, .baseline = {}}), Error);
  CHECK_THROWS_WITH(compare(trials, {.by = {"model.head"}, .metrics = {"nll"}, .baseline = {}}),
                    ContainsSubstring("did you mean 'model.heads'"));
  CHECK_THROWS_WITH(compare(trials, {.by = {"seed"}, .metrics = {"nl"}, .baseline = {}}),
                    ContainsSubstring("did you mean 'nll'"));
  CHECK_THROWS_WITH(compare(trials, by_heads("4")), ContainsSubstring("there are: 1; 16; 8"));
  CHECK_NOTHROW(compare(trials, by_heads("8.0")));
}

TEST_CASE("two trials with the same settings cannot be told apart") {
  auto trials = heads_by_seed();
  trials.push_back(trials.front());
  trials.back().id = "copy";
  CHECK_THROWS_WITH(compare(trials, by_heads()), ContainsSubstring("copy do not differ"));
}

TEST_CASE("the table has a line a group and gaps where there is nothing") {
  const Table table = to_table(compare(heads_by_seed(), by_heads("8")));
  REQUIRE(table.rows().size() == 3);
  CHECK(table.columns().size() == 14);
  CHECK(std::get<std::int64_t>(table.rows()[2][2]) == 16);
  CHECK(std::get<double>(table.rows()[0][4]) == Approx(2.1));
  CHECK(std::holds_alternative<std::monostate>(table.rows()[1][8]));
  CHECK(std::get<double>(table.rows()[0][13]) == 0.25);
}

TEST_CASE("law: adding a seed's own offset to all its trials leaves the differences") {
  REQUIRE(rc::check([] {
    const auto offsets = *rc::gen::container<std::vector<int>>(3, rc::gen::inRange(-1000, 1000));
    auto trials = heads_by_seed();
    for (auto& row : trials)
      row.metrics["nll"].value +=
          offsets[static_cast<std::size_t>(std::stoi(row.settings["seed"]))];
    const auto shifted = compare(trials, by_heads("8"));
    const auto plain = compare(heads_by_seed(), by_heads("8"));
    for (const std::size_t g : {0U, 2U}) {
      const auto& a = shifted.metrics[0].groups[g].difference->difference;
      const auto& b = plain.metrics[0].groups[g].difference->difference;
      RC_ASSERT(std::abs(a.mean - b.mean) < 1e-9);
      RC_ASSERT(std::abs(*a.standard_deviation - *b.standard_deviation) < 1e-9);
    }
  }));
}

}  // namespace
}  // namespace headcount
