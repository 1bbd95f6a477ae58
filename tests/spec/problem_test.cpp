#include "spec/problem.hpp"

#include "catch.hpp"

namespace headcount {
namespace {

TEST_CASE("problems come in the order of lines, the command line last, each once") {
  Problems problems;
  CHECK_NOTHROW(problems.raise());
  problems.add({"--set a=1", 0}, "a", "third");
  problems.add({"f.ini", 9}, "b", "second");
  problems.add({"f.ini", 2}, "c", "first");
  problems.add({"f.ini", 2}, "c", "first");
  try {
    problems.raise();
    FAIL("nothing was thrown");
  } catch (const SpecError& error) {
    CHECK(error.code() == ExitCode::bad_data);
    CHECK(std::string(error.what()) == "f.ini:2: first\nf.ini:9: second\n--set a=1: third");
    REQUIRE(error.problems().size() == 3);
    CHECK(error.problems()[0] == Problem{"f.ini", 2, "c", "first"});
  }
}

TEST_CASE("very many problems are cut") {
  Problems problems;
  for (int i = 1; i <= 5000; ++i) problems.add({"f.ini", i}, "", "bad");
  try {
    problems.raise();
    FAIL("nothing was thrown");
  } catch (const SpecError& error) {
    CHECK(error.problems().size() == 100);
    CHECK_THAT(error.what(), ContainsSubstring("\n... and more"));
  }
}

}  // namespace
}  // namespace headcount
