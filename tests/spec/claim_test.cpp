#include "spec/claim.hpp"

#include <fmt/format.h>

#include "catch.hpp"
#include "spec/laws.hpp"
#include "spec/sample.hpp"

namespace headcount {
namespace {

using Form = Expectation::Form;

const std::string kSwept =
    "[task]\ndata = austen\n[axis]\nmodel.heads = 1, 2, 8\nseed = 1 .. 3\n";  // five lines
const SpecOptions kScores{std::nullopt, {}, {"nll", "accuracy"}};

Experiment with_claim(const std::string& lines) {
  return parse(kSwept + "[claim.c]\n" + lines, kScores);
}

TEST_CASE("a claim that compares") {
  const auto experiment = parse(kSwept +
                                    "[claim.one-is-worse]\n"
                                    "left = nll on validation where model.heads = 1, seed = 2\n"
                                    "right = nll  where  model.heads = 8\n"
                                    "expect = left > right by 0.05\n"
                                    "published = 5.29 against 4.92 perplexity\n"
                                    "note = \"at equal width\"\n",
                                kScores);
  REQUIRE(experiment.claims.size() == 1);
  const auto& claim = experiment.claims[0];
  CHECK(claim.name == "one-is-worse");
  CHECK(claim.place == Place{"test.ini", 6});
  CHECK(claim.left ==
        Quantity{"nll", ClaimSplit::validation, {{"model.heads", "1"}, {"seed", "2"}}});
  CHECK(claim.right == Quantity{"nll", ClaimSplit::test, {{"model.heads", "8"}}});
  CHECK_FALSE(claim.value);
  CHECK(claim.expect == Expectation{Form::greater, 0.05, ""});
  CHECK(claim.published == "5.29 against 4.92 perplexity");
  CHECK(claim.note == "at equal width");
  CHECK(claim.not_checkable.empty());
}

TEST_CASE("claims are no part of a trial") {
  const std::string claim = "value = nll\nexpect = increasing over model.heads\npublished = x\n";
  CHECK(with_claim(claim).trials[3].settings == parse(kSwept).trials[3].settings);
}

TEST_CASE("all forms of expectation") {
  const auto compared = [](const std::string& form) {
    return with_claim(
               "left = nll where model.heads = 1\nright = nll where model.heads = 2\n"
               "published = x\nexpect = " +
               form + "\n")
        .claims.at(0)
        .expect;
  };
  CHECK(compared("left > right") == Expectation{Form::greater, 0, ""});
  CHECK(compared("left < right") == Expectation{Form::less, 0, ""});
  CHECK(compared("left  <  right  by 1e-3") == Expectation{Form::less, 1e-3, ""});
  CHECK(compared("left ~ right within 0.02") == Expectation{Form::near, 0.02, ""});
  const auto followed = [](const std::string& form) {
    return with_claim("value = accuracy\npublished = x\nexpect = " + form + " over model.heads\n")
        .claims.at(0)
        .expect;
  };
  CHECK(followed("increasing") == Expectation{Form::increasing, 0, "model.heads"});
  CHECK(followed("decreasing") == Expectation{Form::decreasing, 0, "model.heads"});
  CHECK(followed("peak inside") == Expectation{Form::peak_inside, 0, "model.heads"});
  CHECK(followed("valley inside") == Expectation{Form::valley_inside, 0, "model.heads"});
}

TEST_CASE("values of conditions are converted as everywhere") {
  const auto claim = parse(
                         "[task]\ndata = austen\n[axis]\nmodel.heads = (8 4), 8\n"
                         "measure.measures = (entropy confidence), entropy\n"
                         "[claim.c]\n"
                         "left = nll where model.heads = (8  4), measure.measures = (entropy "
                         "confidence), train.dropout = 0.10\n"
                         "right = nll where model.heads = 8\n"
                         "expect = left < right\npublished = x\n",
                         kScores)
                         .claims.at(0);
  CHECK(claim.left->where ==
        std::vector<Quantity::Condition>{{"model.heads", "(8 4)"},
                                         {"measure.measures", "entropy, confidence"},
                                         {"train.dropout", "0.1"}});
}

TEST_CASE("a quantity matches the settings that meet all of its conditions") {
  const auto trials = parse(kSwept).trials;
  const Quantity one{"nll", ClaimSplit::test, {{"model.heads", "1"}, {"seed", "2"}}};
  int matching = 0;
  for (const auto& trial : trials) matching += matches(one, trial.settings);
  CHECK(matching == 1);
  CHECK(matches(one, trials[1].settings));
  CHECK_FALSE(matches({"nll", ClaimSplit::test, {{"no.such", "1"}}}, trials[1].settings));
}

TEST_CASE("law: what is printed of a claim reads back to the same") {
  REQUIRE(rc::check("random claims", [] {
    Quantity quantity{*rc::gen::element<std::string>("nll", "accuracy"),
                      *rc::gen::element(ClaimSplit::test, ClaimSplit::validation),
                      {}};
    if (*rc::gen::arbitrary<bool>()) quantity.where.push_back({"train.steps", "1000"});
    if (*rc::gen::arbitrary<bool>()) quantity.where.push_back({"measure.measures", ""});
    if (*rc::gen::arbitrary<bool>())
      quantity.where.push_back({"prune.methods", "random, magnitude"});
    const Expectation expect{*rc::gen::element(Form::increasing, Form::decreasing,
                                               Form::peak_inside, Form::valley_inside),
                             0, "model.heads"};
    const auto claim =
        parse(kSwept + fmt::format("[prune]\nmethods = random, magnitude\n[claim.c]\n"
                                   "value = {}\nexpect = {}\npublished = x\n",
                                   to_string(quantity), to_string(expect)),
              kScores)
            .claims.at(0);
    RC_ASSERT(claim.value == quantity);
    RC_ASSERT(claim.expect == expect);
    const auto margin = *rc::gen::inRange(0, 1000) * 1e-3;
    const Expectation compared{*rc::gen::element(Form::greater, Form::less), margin, ""};
    RC_ASSERT(with_claim(fmt::format("left = nll where seed = 1\nright = nll on validation where "
                                     "seed = 1\npublished = x\nexpect = {}\n",
                                     to_string(compared)))
                  .claims.at(0)
                  .expect == compared);
  }));
}

}  // namespace
}  // namespace headcount
