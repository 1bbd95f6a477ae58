#include "run/trial_process.hpp"

#include "catch.hpp"
#include "run/lock.hpp"
#include "sample.hpp"

namespace headcount {
namespace {

// An assignment whose task is never looked at.
TrialAssignment assignment(const Experiment& experiment, const std::filesystem::path& folder) {
  TrialJob job;
  job.experiment = &experiment;
  job.spec = &experiment.trials.front();
  job.id = "trial";
  const TrialFiles files(folder, job.id);
  job.path = files.result;
  return {job, files, 1, {}, "token", "", file_stamp(files.failure)};
}

TEST_CASE("a trial that another runner holds, did or failed meanwhile is not run") {
  using How = TrialEnd::How;
  const TemporaryFolder folder;
  const auto experiment = tiny();
  const auto mine = assignment(experiment, folder.path());
  const Reporter nobody(-1);
  SECTION("holds") {
    const auto lock = TrialLock::take(mine.files.lock, "theirs");
    CHECK(run_assignment(mine, nobody).how == How::held);
    CHECK(read_lock(mine.files.lock)->owner.token == "theirs");
  }
  SECTION("did") {
    std::filesystem::rename(run_one(folder.path() / "other"), mine.files.result);
    CHECK(run_assignment(mine, nobody).how == How::skipped);
    CHECK_FALSE(read_lock(mine.files.lock));
  }
  SECTION("failed") {
    write_failure(mine.files.failure, {"trial", "diverged", ExitCode::bad_data});
    const auto end = run_assignment(mine, nobody);
    CHECK(end.how == How::failed);
    CHECK(end.reason == "diverged");
    CHECK(end.code == ExitCode::bad_data);
    CHECK(end.recorded);
    CHECK_FALSE(read_lock(mine.files.lock));
  }
}

}  // namespace
}  // namespace headcount
