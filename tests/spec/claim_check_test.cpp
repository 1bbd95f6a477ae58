#include "spec/claim_check.hpp"

#include "catch.hpp"
#include "spec/sample.hpp"

namespace headcount {
namespace {

const std::string kSwept = "[task]\ndata = austen\n[axis]\nmodel.heads = 1, 2, 8\nseed = 1, 2\n";
const std::string kCompares =
    kSwept +
    "[claim.c]\nleft = nll where model.heads = 1\nright = nll where model.heads = 8\n"
    "expect = left > right\npublished = x\n";
const std::string kFollows =
    kSwept + "[claim.c]\nvalue = nll\nexpect = valley inside over model.heads\npublished = x\n";

std::string reason(const std::string& spec, const std::vector<std::string>& sets) {
  return parse(spec, {std::nullopt, sets, {"nll"}}).claims.at(0).not_checkable;
}

TEST_CASE("what --set takes away leaves a claim that cannot be checked, and says why") {
  CHECK(reason(kCompares, {}) == "");
  CHECK(reason(kCompares, {"model.layers=2"}) == "");
  CHECK(reason(kCompares, {"model.heads=8"}) ==
        "no trial has model.heads = '1' (the trials have: 8)");
  CHECK(reason(kFollows, {"model.heads=1, 2"}) ==
        "model.heads needs 3 values or more among the trials of value; they have 1, 2");
  CHECK(reason(kFollows, {"model.heads=(8 8 8 8), 2, 3"}) ==
        "model.heads = '(8 8 8 8)' is not a number");
  // Without a value for a required key the file alone makes no trials: the claim has its doubt.
  CHECK(reason("[axis]\nmodel.heads = 1, 2\n[claim.c]\nvalue = nll where model.heads = 3\n"
               "expect = increasing over seed\npublished = x\n",
               {"task.data=austen"}) == "no trial has model.heads = '3' (the trials have: 1, 2)");
}

TEST_CASE("a claim that only --set makes checkable is one") {
  CHECK(reason(kSwept + "[claim.c]\nvalue = nll\nexpect = increasing over model.layers\n"
                        "published = x\n",
               {"model.layers=2, 4"}) == "");
}

TEST_CASE("pairs need a common seed") {
  const std::string zip =
      "[task]\ndata = austen\n[zip.z]\nmodel.heads = 1, 8\nseed = 1, 2\n[claim.c]\n";
  const auto problem = [&](const std::string& lines) {
    return problems_of(zip + lines + "published = x\n", {std::nullopt, {}, {"nll"}});
  };
  CHECK(problem("left = nll where model.heads = 1\nright = nll where model.heads = 8\n"
                "expect = left > right\n") ==
        "test.ini:8: [claim.c]: no trial of left (heads-1_seed-1) has the seeds of one of right "
        "(heads-8_seed-2)");
  CHECK(problem("value = nll\nexpect = increasing over model.heads\n") ==
        "test.ini:8: [claim.c]: no seed has 2 values of model.heads or more");
}

TEST_CASE("a trial may be compared with itself on another split") {
  CHECK(reason(kSwept + "[claim.c]\nleft = nll\nright = nll on validation\n"
                        "expect = left ~ right within 0.1\npublished = x\n",
               {}) == "");
}

TEST_CASE("claims see cases") {
  CHECK(reason(kSwept + "[case.deep]\nmodel.layers = 12\n[claim.c]\n"
                        "left = nll where model.layers = 12\nright = nll where model.heads = 1\n"
                        "expect = left < right\npublished = x\n",
               {}) == "");
}

}  // namespace
}  // namespace headcount
