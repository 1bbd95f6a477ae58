#include "run/core_pool.hpp"

#include <set>

#include <fmt/ranges.h>
#include <unistd.h>

#include "base/file.hpp"
#include "catch.hpp"
#include "run/child.hpp"
#include "run/lock.hpp"
#include "run/trial_process.hpp"
#include "sample.hpp"

namespace headcount {
namespace {

TEST_CASE("every job has a core of its own, for as long as it runs") {
  CorePool pool(3, 1, {4, 6, 5, 7});
  const auto first = pool.take(), second = pool.take(), third = pool.take();
  CHECK(first == 4);
  CHECK(second == 6);
  CHECK(third == 5);
  CHECK_FALSE(pool.take());
  pool.give_back(second);
  CHECK(pool.take() == second);
  pool.give_back(std::nullopt);
  CHECK_FALSE(pool.take());
}

TEST_CASE("no cores for a single job, for several threads, or for more jobs than cores") {
  CHECK_FALSE(CorePool(1, 1, {0, 1}).take());
  CHECK_FALSE(CorePool(2, 2, {0, 1, 2, 3}).take());
  CHECK_FALSE(CorePool(3, 1, {0, 1}).take());
  CHECK(CorePool(2, 1, {0, 1}).take());
}

// The cores that a trial's process may use, as it reports them itself.
std::string cores_of_child(const TrialAssignment& assignment) {
  ChildProcess child([&](const Reporter& reporter) {
    const auto end = run_assignment(assignment, reporter);
    reporter.news({fmt::format("{}", fmt::join(allowed_cores(), " ")), 0});
    return end;
  });
  while (child.read()) ::usleep(1000);
  CHECK(child.wait().how == TrialEnd::How::held);
  return child.news().text;
}

TEST_CASE("a trial's process stays on the core it is given, and this one where it was") {
  const TemporaryFolder folder;
  const auto experiment = tiny();
  TrialJob job;
  job.experiment = &experiment;
  job.spec = &experiment.trials.front();
  job.id = "trial";
  const TrialFiles files(folder.path(), job.id);
  job.path = files.result;
  TrialAssignment assignment{job, files, 1, {}, "token", "", ""};
  const auto lock = TrialLock::take(files.lock, "theirs");  // so that it ends at once
  const auto allowed = allowed_cores();
  REQUIRE_FALSE(allowed.empty());
  CHECK(cores_of_child(assignment) == fmt::format("{}", fmt::join(allowed, " ")));
  for (const int core : allowed) {
    assignment.core = core;
    CHECK(cores_of_child(assignment) == fmt::format("{}", core));
  }
  CHECK(allowed_cores() == allowed);
}

// The core that a trial's log names; "" for none.
std::string core_in_log(const std::filesystem::path& result) {
  auto log = result;
  const auto text = read_file(log.replace_extension(".log"));
  const auto start = text.find(", core ");
  return start == std::string::npos ? "" : text.substr(start + 7, text.find('\n') - start - 7);
}

TEST_CASE("trials that run side by side have different cores") {
  const TemporaryFolder folder;
  const auto experiment = tiny({}, "[axis]\nseed = 1, 2\n");
  SweepOptions options;
  options.out = folder.path() / "two";
  options.quiet = true;
  options.jobs = 2;
  std::set<std::string> cores;
  for (const auto& outcome : run_sweep(experiment, options))
    cores.insert(core_in_log(outcome.path));
  if (allowed_cores().size() >= 2) {
    CHECK(cores.size() == 2);
    CHECK_FALSE(cores.contains(""));
  } else {
    CHECK(cores == std::set<std::string>{""});
  }
  options.out = folder.path() / "crowd";
  options.jobs = static_cast<int>(allowed_cores().size()) + 1;
  for (const auto& outcome : run_sweep(experiment, options)) CHECK(core_in_log(outcome.path) == "");
}

}  // namespace
}  // namespace headcount
