#include "evaluate/pass_log.hpp"

#include "catch.hpp"
#include "evaluate/evaluator.hpp"
#include "support/toy.hpp"

namespace headcount {
namespace {

TEST_CASE("a pass is made once, and given back to whoever asks again in the same order") {
  int made = 0;
  const auto make = [&] { return std::vector<double>{1.0 * ++made}; };
  PassLog log;
  int told = 0;
  log.when_made([&] { ++told; });
  CHECK(log.next("a", make) == std::vector{1.0});
  CHECK(log.next("b", make) == std::vector{2.0});
  CHECK(log.next("a", make) == std::vector{3.0});
  CHECK(told == 3);

  PassLog again;
  again.add(log.passes()[0]);
  again.add(log.passes()[1]);
  CHECK(again.next("a", make) == std::vector{1.0});
  CHECK(again.next("b", make) == std::vector{2.0});
  CHECK(made == 3);
  CHECK(again.next("a", make) == std::vector{4.0});
  CHECK(again.passes().size() == 3);
}

TEST_CASE("another pass than the one in the log is an error") {
  PassLog log;
  log.add({"a", {1.0}});
  CHECK_THROWS_WITH(log.next("b", [] { return std::vector<double>{}; }),
                    ContainsSubstring("pass 0 was 'a' and is now 'b'"));
}

TEST_CASE("a pass that fails leaves no trace") {
  PassLog log;
  CHECK_THROWS(log.next("a", []() -> std::vector<double> { throw std::runtime_error("no"); }));
  CHECK(log.passes().empty());
  CHECK(log.next("a", [] { return std::vector<double>{5}; }) == std::vector{5.0});
}

// All passes that an evaluator offers, and what they found.
struct Found {
  std::vector<ExampleStatistics> intact, masked, smaller;
  Matrix<double> gradients;
  Ablations ablations;
};

Found all_passes(PassLog* log) {
  const ToyTask task;
  const Model<double> model(toy_config());
  const auto parameters = toy_parameters(model, 2);
  ThreadTeam team(2);
  Evaluator<double> evaluator(model, parameters, task, SplitName::validation, 0, team);
  if (log) evaluator.keep_in(*log);
  const auto intact = HeadTreatment<double>::intact(model.heads());
  auto masked = intact;
  masked.mask(toy_head(1, 2), MaskKind::zero);
  const auto without = model.without({toy_head(1, 2)});
  const auto fewer = model.shrink(parameters, without);
  Found found;
  found.intact = evaluator.run(intact);
  found.masked = evaluator.run(masked);
  found.smaller = evaluator.with(without, fewer).run(intact);
  found.gradients = evaluator.gate_gradients(intact).values;
  found.ablations = evaluator.ablations(intact, {toy_head(0, 1), toy_head(1, 2)});
  return found;
}

void check_equal(const std::vector<ExampleStatistics>& a, const std::vector<ExampleStatistics>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t x = 0; x < a.size(); ++x) {
    CHECK(a[x].nll == b[x].nll);
    CHECK(a[x].correct == b[x].correct);
    CHECK(a[x].targets == b[x].targets);
    CHECK(a[x].cluster == b[x].cluster);
  }
}

TEST_CASE("an evaluator's passes from a log are those it would make") {
  const auto plain = all_passes(nullptr);
  PassLog first;
  all_passes(&first);
  REQUIRE(first.passes().size() == 5);
  PassLog log;
  for (auto pass : first.passes()) log.add(std::move(pass));
  int made = 0;
  log.when_made([&] { ++made; });
  const auto replayed = all_passes(&log);
  CHECK(made == 0);
  check_equal(plain.intact, replayed.intact);
  check_equal(plain.masked, replayed.masked);
  check_equal(plain.smaller, replayed.smaller);
  CHECK(plain.gradients == replayed.gradients);
  check_equal(plain.ablations.intact, replayed.ablations.intact);
  check_equal(plain.ablations.intact, plain.intact);
  REQUIRE(replayed.ablations.without.size() == 2);
  for (std::size_t h = 0; h < 2; ++h)
    check_equal(plain.ablations.without[h], replayed.ablations.without[h]);
  CHECK(plain.ablations.without[0][0].nll != plain.ablations.without[1][0].nll);
  CHECK(plain.masked[0].nll != plain.intact[0].nll);
  // masked and smaller are told apart though they agree
  CHECK(log.passes()[1].what != log.passes()[2].what);
  CHECK(log.passes()[0].what != log.passes()[1].what);
}

TEST_CASE("ablations of other heads are another pass") {
  const ToyTask task;
  const Model<float> model(toy_config());
  const auto parameters = toy_parameters(model, 2);
  ThreadTeam team(1);
  Evaluator<float> evaluator(model, parameters, task, SplitName::validation, 0, team);
  PassLog log;
  evaluator.keep_in(log);
  const auto intact = HeadTreatment<float>::intact(model.heads());
  evaluator.ablations(intact, {toy_head(0, 0)});
  evaluator.ablations(intact, {toy_head(0, 1)});
  REQUIRE(log.passes().size() == 2);
  CHECK(log.passes()[0].what != log.passes()[1].what);
}

}  // namespace
}  // namespace headcount
