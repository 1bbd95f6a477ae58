#include "run/progress.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "catch.hpp"
#include "task/process.hpp"

namespace headcount {
namespace {

TEST_CASE("a time is written as a clock has it") {
  CHECK(clock_text(0) == "0:00");
  CHECK(clock_text(5.4) == "0:05");
  CHECK(clock_text(65) == "1:05");
  CHECK(clock_text(59.6) == "1:00");
  CHECK(clock_text(3599.4) == "59:59");
  CHECK(clock_text(3600) == "1:00:00");
  CHECK(clock_text(2 * 3600 + 3 * 60 + 4) == "2:03:04");
}

TEST_CASE("now is a UTC time of ISO 8601") {
  const auto now = utc_now();
  REQUIRE(now.size() == 20);
  CHECK(now.substr(0, 2) == "20");
  CHECK(now[10] == 'T');
  CHECK(now.back() == 'Z');
}

TEST_CASE(
    "events are in the file as soon as they are recorded, and replace those of a run before") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trial.jsonl";
  {
    Progress progress("[1/1] trial", path, true);
    progress.record(R"({"step":1})");
    CHECK(read_file(path) == "{\"step\":1}\n");
    progress.record(R"({"step":2})");
    CHECK(read_file(path) == "{\"step\":1}\n{\"step\":2}\n");
  }
  const Progress again("[1/1] trial", path, true);
  CHECK(read_file(path).empty());
}

TEST_CASE("a file that cannot be written is told") {
  const TemporaryFolder folder;
  try {
    const Progress progress("trial", folder.path() / "missing" / "trial.jsonl", true);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::cannot_create);
    CHECK_THAT(error.what(), ContainsSubstring("missing/trial.jsonl"));
  }
}

}  // namespace
}  // namespace headcount
