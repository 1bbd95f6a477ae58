#include "run/trial_files.hpp"

#include "base/file.hpp"
#include "catch.hpp"
#include "sample.hpp"

namespace headcount {
namespace {

TEST_CASE("a failure is kept with its reason and code") {
  const TemporaryFolder folder;
  const TrialFiles files(folder.path(), "heads-1");
  CHECK_FALSE(read_failure(files.failure));
  CHECK(file_stamp(files.failure).empty());
  write_failure(files.failure, {"heads-1", "diverged \"at\" step 3 \xff", ExitCode::bad_data});
  const auto failure = read_failure(files.failure);
  REQUIRE(failure);
  CHECK(failure->trial == "heads-1");
  CHECK(failure->reason == "diverged \"at\" step 3 \uFFFD");
  CHECK(failure->code == ExitCode::bad_data);
  const auto stamp = file_stamp(files.failure);
  write_failure(files.failure, *failure);
  CHECK(file_stamp(files.failure) != stamp);  // another writing
  write_text(files.failure, "[");
  CHECK_THAT(read_failure(files.failure)->reason, ContainsSubstring("says no reason"));
}

TEST_CASE("a curve's last step is read from its end") {
  const TemporaryFolder folder;
  const auto curve = folder.path() / "heads-1.jsonl";
  CHECK(last_step(curve) == 0);
  std::string text;
  for (int step = 1; step <= 5000; ++step)
    text += "{\"step\":" + std::to_string(step) + ",\"loss\":1.234567}\n";
  write_text(curve, text + "{\"stage\":\"train\",\"seconds\":2}\n{\"ste");
  CHECK(last_step(curve) == 5000);
  write_text(curve, "\xff\n[1]\n{\"step\":\"x\"}\n");
  CHECK(last_step(curve) == 0);
}

}  // namespace
}  // namespace headcount
