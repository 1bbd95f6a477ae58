// Every kind of mistake in zip, case, skip and claim, and what is said of it.

#include <string>
#include <vector>

#include "catch.hpp"
#include "spec/sample.hpp"

namespace headcount {
namespace {

struct Golden {
  const char* kind;
  std::string lines;    // of the spec, from line 6
  std::string problem;  // all of it, from its line number on
};

const SpecOptions kScores{std::nullopt, {}, {"nll", "accuracy"}};

void check_all(const std::vector<Golden>& all) {
  const std::string head = "[task]\ndata = austen\n[axis]\nmodel.heads = 1, 2\nseed = 1, 2\n";
  for (const auto& golden : all) {
    INFO(golden.kind);
    CHECK(problems_of(head + golden.lines, kScores) == "test.ini:" + golden.problem);
  }
}

TEST_CASE("messages of sections") {
  check_all({
      {"zip without a name", "[zip]\nmodel.layers = 1\n", "6: [zip]: write [zip.NAME]"},
      {"claim with two names", "[claim.a.b]\n", "6: [claim.a.b]: write [claim.NAME]"},
      {"nearly a zip", "[zap.a]\n", "6: unknown section 'zap.a'; did you mean 'zip.a'?"},
      {"empty zip", "[zip.z]\n", "6: [zip.z] is empty"},
      {"empty case", "[case.c]\n", "6: [case.c] is empty"},
      {"empty skip", "[skip.s]\n", "6: [skip.s] is empty"},
      {"empty claim", "[claim.c]\n", "6: [claim.c] is empty"},
      {"key twice", "[zip.z]\nmodel.layers = 1\nmodel.layers = 2\n",
       "8: 'zip.z.model.layers' is set twice; the first time on line 7"},
  });
}

TEST_CASE("messages of zips") {
  check_all({
      {"unequal lengths", "[zip.z]\nmodel.layers = 1 .. 3\ntrain.steps = 1, 2\n",
       "8: [zip.z]: train.steps has 2 values, model.layers (line 7) has 3; keys that move together "
       "need equally many"},
      {"equal points", "[zip.z]\nmodel.layers = 1, 2, 1\ntrain.steps = 1, 2, 1\n",
       "7: [zip.z]: its points 1 and 3 are the same; leave one out"},
      {"swept by axis and zip", "[zip.z]\nmodel.heads = 1, 2\n",
       "7: model.heads is swept twice; the first time on line 4"},
      {"swept by two zips", "[zip.a]\nmodel.layers = 1, 2\n[zip.b]\nmodel.layers = 1, 2\n",
       "9: model.layers is swept twice; the first time on line 7"},
      {"over words", "[zip.z]\nexperiment.name = a, b\n",
       "7: experiment.name says what the experiment is; it cannot be swept"},
      {"bad value", "[zip.z]\nmodel.layers = 1, 0\n",
       "7: model.layers: '0': out of range: 1 .. 64"},
  });
}

TEST_CASE("messages of cases and skips") {
  check_all({
      {"unknown key in a case", "[case.c]\nmodel.layres = 1\n",
       "7: unknown key 'model.layres'; did you mean 'model.layers'?"},
      {"bad value in a case", "[case.c]\nmodel.layers = x\n",
       "7: model.layers = 'x': not an integer"},
      {"a case of words", "[case.c]\nexperiment.name = a\n",
       "7: experiment.name says what the experiment is; a case cannot change it"},
      {"case equal to a point", "[case.c]\nmodel.heads = 2\n",
       "6: [case.c]: its trial c_seed-1 has the same settings as heads-2_seed-1; leave one out"},
      {"case equal to a case", "[case.a]\nmodel.layers = 2\n[case.b]\nmodel.layers = 2\n",
       "8: [case.b]: its trial b_seed-1 has the same settings as a_seed-1; leave one out"},
      {"bad value in a skip", "[skip.s]\nmodel.heads = 1 .. x\n",
       "7: model.heads: '1 .. x': 'x': not an integer"},
      {"unknown key in a skip", "[skip.s]\nmodel.head = 1\n",
       "7: unknown key 'model.head'; did you mean 'model.heads'?"},
      {"skip matches nothing", "[skip.s]\nmodel.heads = 1\nseed = 3\n",
       "7: [skip.s] matches no point of the sweep"},
      {"all skipped", "[skip.s]\nmodel.heads = 1 .. 2\n",
       "6: [skip.s]: no trial is left, every point is skipped"},
  });
  CHECK(problems_of("[axis]\ntask.data = austen, file:x\n[case.c]\nmodel.layers = 2\n") ==
        "test.ini:3: [case.c] does not set task.data, which is only swept and has no default");
}

const std::string kLeft = "left = nll where model.heads = 1\n";
const std::string kRight = "right = nll where model.heads = 2\n";
const std::string kRest = "expect = left > right\npublished = x\n";

std::string with_left(const std::string& quantity) {
  return "[claim.c]\nleft = " + quantity + "\n" + kRight + kRest;
}

std::string with_expect(const std::string& form) {
  return "[claim.c]\n" + kLeft + kRight + "published = x\nexpect = " + form + "\n";
}

std::string over_key(const std::string& form) {
  return "[claim.c]\nvalue = nll\nexpect = " + form + "\npublished = x\n";
}

TEST_CASE("messages of a claim's lines") {
  check_all({
      {"unknown key", "[claim.c]\nlefft = nll\n" + kLeft + kRight + kRest,
       "7: [claim.c]: unknown key 'lefft' of a claim; did you mean 'left'? (a claim has: left, "
       "right, value, expect, published, note)"},
      {"no right", "[claim.c]\n" + kLeft + kRest, "6: [claim.c] does not say right"},
      {"nothing published", "[claim.c]\n" + kLeft + kRight + "expect = left > right\n",
       "6: [claim.c] does not say published"},
      {"published is empty",
       "[claim.c]\n" + kLeft + kRight + "expect = left > right\npublished =\n",
       "10: [claim.c]: published is empty"},
      {"value beside left", "[claim.c]\n" + kLeft + kRight + "value = nll\n" + kRest,
       "9: [claim.c]: value says nothing here: expect compares left with right"},
      {"left beside value", over_key("increasing over model.heads") + kLeft,
       "10: [claim.c]: left says nothing here: expect follows value over a key"},
  });
}

TEST_CASE("messages of a claim's quantities") {
  check_all({
      {"unknown metric", with_left("nl where model.heads = 1"),
       "7: [claim.c]: unknown metric 'nl'; did you mean 'nll'? (known: nll, accuracy)"},
      {"two metrics", with_left("accuracy where model.heads = 1"),
       "8: [claim.c]: left is accuracy, right is nll; a claim compares one metric with itself"},
      {"unknown split", with_left("nll on train where model.heads = 1"),
       "7: [claim.c]: 'train' is no split; write on test or on validation"},
      {"stray words", with_left("nll model.heads = 1"),
       "7: [claim.c]: 'model.heads = 1' is not understood; write METRIC [on test|validation] "
       "[where KEY = VALUE, KEY = VALUE ...]"},
      {"no condition", with_left("nll where"),
       "7: [claim.c]: '' is no condition; write KEY = VALUE"},
      {"unknown key", with_left("nll where model.head = 1"),
       "7: [claim.c]: unknown key 'model.head'; did you mean 'model.heads'?"},
      {"a condition on words", with_left("nll where experiment.name = x"),
       "7: [claim.c]: experiment.name says what the experiment is; no trial differs in it"},
      {"bad value", with_left("nll where model.heads = 0"),
       "7: [claim.c]: model.heads = '0': out of range: 1 .. 1024"},
      {"key twice", with_left("nll where seed = 1, seed = 2"), "7: [claim.c]: seed stands twice"},
      {"open parenthesis", with_left("nll where model.heads = (1 2"),
       "7: [claim.c]: a '(' is not closed"},
  });
}

TEST_CASE("messages of a claim's expectation") {
  const std::string forms =
      "; write left > right, left < right, each with or without by NUMBER; left ~ right within "
      "NUMBER; increasing over KEY, decreasing over KEY, peak inside over KEY or valley inside "
      "over KEY";
  check_all({
      {"no such form", with_expect("left >= right"),
       "10: [claim.c]: expect = 'left >= right'" + forms},
      {"near without a margin", with_expect("left ~ right"),
       "10: [claim.c]: expect = 'left ~ right'" + forms},
      {"margin of zero", with_expect("left > right by 0"),
       "10: [claim.c]: by '0': write a number above 0"},
      {"negative margin", with_expect("left ~ right within -1"),
       "10: [claim.c]: within '-1': write a number above 0"},
      {"over an unknown key", over_key("increasing over model.head"),
       "8: [claim.c]: unknown key 'model.head'; did you mean 'model.heads'?"},
      {"over words", over_key("increasing over model.init"),
       "8: [claim.c]: model.init takes no numbers (choice: xavier-uniform, gaussian)"},
  });
}

TEST_CASE("messages of claims that the trials cannot settle") {
  check_all({
      {"a condition no trial meets", with_left("nll where model.heads = 4"),
       "7: [claim.c]: no trial has model.heads = '4' (the trials have: 1, 2)"},
      {"conditions that never meet",
       "[skip.s]\nmodel.heads = 1\nseed = 2\n" + with_left("nll where model.heads = 1, seed = 2"),
       "10: [claim.c]: no trial has model.heads = '1' and seed = '2' together"},
      {"left and right overlap", with_left("nll where seed = 1"),
       "8: [claim.c]: left and right both match heads-2_seed-1; a trial is not compared with "
       "itself"},
      {"no common seed",
       "[claim.c]\nleft = nll where seed = 1\nright = nll where seed = 2\n" + kRest,
       "8: [claim.c]: no trial of left (heads-1_seed-1) has the seeds of one of right "
       "(heads-1_seed-2)"},
      {"over a key that is not swept", over_key("decreasing over model.layers"),
       "8: [claim.c]: model.layers needs 2 values or more among the trials of value; they have 4"},
      {"a peak of two", over_key("peak inside over model.heads"),
       "8: [claim.c]: model.heads needs 3 values or more among the trials of value; they have 1, "
       "2"},
  });
}

TEST_CASE("three mistakes on three lines are told with their lines") {
  try {
    parse(
        "[task]\ndata = austen\n"
        "[zip.z]\nmodel.layers = 1, 2\nmodel.heads = 1, 2, 3\n"
        "[skip.s]\nmodel.layers = x\n"
        "[claim.c]\nvalue = nll\nexpect = rising over seed\npublished = x\n",
        kScores);
    FAIL("nothing was thrown");
  } catch (const SpecError& error) {
    REQUIRE(error.problems().size() == 3);
    CHECK(error.problems()[0].line == 5);
    CHECK(error.problems()[1].line == 7);
    CHECK(error.problems()[2].line == 10);
  }
}

TEST_CASE("what the model finds in a case is told with the line of the case") {
  const auto check = [](const Settings& settings) {
    std::vector<KeyProblem> found;
    if (settings.is("model.layers", "9"))
      found = {{"model.layers", "nine"}, {"model.heads", "eight"}};
    return found;
  };
  CHECK(problems_of("[task]\ndata = austen\n[axis]\nmodel.heads = 1, 2\n"
                    "[case.c]\ntrain.steps = 1\nmodel.layers = 9\n",
                    {}, check) ==
        "test.ini:5: model.heads: eight\n"
        "test.ini:7: model.layers: nine");
}

}  // namespace
}  // namespace headcount
