#include "run/progress.hpp"

#include <fstream>
#include <vector>

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

TEST_CASE("events are in the file as soon as they are recorded, and begin a new curve") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trial.jsonl";
  {
    Progress progress("trial", path, true);
    progress.record({{"step", 1}});
    CHECK(read_file(path) == "{\"step\":1}\n");
    progress.record({{"step", 2}});
    CHECK(read_file(path) == "{\"step\":1}\n{\"step\":2}\n");
  }
  Progress again("trial", path, true);
  again.record({{"step", 7}});
  CHECK(read_file(path) == "{\"step\":7}\n");
}

TEST_CASE("a trial that goes on continues its curve after the step of its checkpoint") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trial.jsonl";
  const std::string kept = "{\"step\":1}\n{\"step\":1,\"validation_nll\":2}\n{\"step\":2}\n";
  std::ofstream(path) << kept << "{\"step\":3}\n{\"stage\":\"train\",\"seconds\":1}\n{\"ste";
  Progress progress("trial", path, true);
  progress.continue_curve(2);
  CHECK(read_file(path) == kept + "{\"stage\":\"train\",\"seconds\":1}\n");
  progress.record({{"step", 3}});
  CHECK(read_file(path) == kept + "{\"stage\":\"train\",\"seconds\":1}\n{\"step\":3}\n");
}

TEST_CASE("who watches hears the last event with every text that is due") {
  const TemporaryFolder folder;
  std::vector<std::string> heard;
  Progress progress("trial", folder.path() / "trial.jsonl", true,
                    [&](const std::string& text, const std::string& event) {
                      heard.push_back(text + " " + event);
                    });
  progress.show("begins");
  progress.record({{"step", 1}});
  progress.show("ends", true);
  CHECK(heard == std::vector<std::string>{"begins ", "ends {\"step\":1}"});
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
