#include "analysis/difference.hpp"

#include "catch.hpp"

namespace headcount {
namespace {

TrialRow trial(std::map<std::string, std::string> settings, std::map<std::string, double> scores) {
  TrialRow row{"id", std::move(settings), {}};
  for (const auto& [name, value] : scores)
    row.metrics[name] = {value, "test", "what it is", "nats"};
  return row;
}

TEST_CASE("settings that differ are told, and no others") {
  const auto a = trial({{"model.heads", "1"}, {"seed", "1"}, {"old", "x"}}, {});
  const auto b = trial({{"model.heads", "8"}, {"seed", "1"}, {"new", "y"}}, {});
  CHECK(render(setting_differences(a, b), TableFormat::csv) ==
        "key,a,b\nmodel.heads,1,8\nnew,-,y\nold,x,-\n");
  CHECK(setting_differences(a, a).rows().empty());
}

TEST_CASE("scores are told side by side, with what the second has more") {
  const auto a = trial({}, {{"nll", 2.5}, {"accuracy", 0.25}});
  const auto b = trial({}, {{"nll", 2.0}, {"perplexity", 7}});
  CHECK(render(score_differences(a, b), TableFormat::csv) ==
        "metric,unit,a,b,b - a\n"
        "accuracy,nats,0.25,,\n"
        "nll,nats,2.5,2,-0.5\n"
        "perplexity,nats,,7,\n");
}

}  // namespace
}  // namespace headcount
