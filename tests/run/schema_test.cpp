#include "run/schema.hpp"

#include <set>

#include "catch.hpp"
#include "measure/measure.hpp"
#include "prune/pruning.hpp"
#include "sample.hpp"
#include "spec/help.hpp"

namespace headcount {
namespace {

TEST_CASE("every key is named once, explained, and valid by default") {
  std::set<std::string> names;
  const auto help = help_text(experiment_schema(), HelpFormat::text);
  for (const auto& key : experiment_schema().keys()) {
    CAPTURE(key.name);
    CHECK(names.insert(key.name).second);
    CHECK_FALSE(key.help.empty());
    CHECK_FALSE(key.fallback.is_required());
    CHECK_THAT(help, ContainsSubstring(key.leaf()));
    CHECK_THAT(help, ContainsSubstring(key.help.substr(0, 20)));
  }
  CHECK(names.size() > 60);
}

TEST_CASE("a spec that says nothing is an experiment that can run") {
  const auto experiment =
      parse_experiment("", "empty.ini", experiment_schema(), {}, check_settings);
  REQUIRE(experiment.trials.size() == 1);
  const auto& settings = experiment.trials.front().settings;
  for (const auto& key : experiment_schema().keys())
    CHECK(settings.has(key.name) == !key.descriptive);
  CHECK(settings.integer("seed.init") == settings.integer("seed"));
  CHECK(settings.integer("seed.data") == settings.integer("seed"));
}

TEST_CASE("one seed moves both of its parts, and each can be set apart") {
  CHECK(tiny_settings({"seed=7"}).integer("seed.data") == 7);
  const auto apart = tiny_settings({"seed=7", "seed.data=2"});
  CHECK(apart.integer("seed.init") == 7);
  CHECK(apart.integer("seed.data") == 2);
}

TEST_CASE("names of measures and methods come from their registries") {
  for (const auto& name : measures().names()) {
    CHECK(tiny_settings({"measure.measures=" + name}).texts("measure.measures") ==
          std::vector{name});
    CHECK_NOTHROW(tiny_settings({"measure.during-training=" + name}));
  }
  for (const auto& name : pruning_methods().names())
    CHECK_NOTHROW(tiny_settings({"prune.methods=" + name}));
  CHECK_THROWS_WITH(tiny_settings({"measure.measures=entrop"}), ContainsSubstring("entropy"));
}

}  // namespace
}  // namespace headcount
