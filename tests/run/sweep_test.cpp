#include "run/sweep.hpp"

#include <csignal>
#include <cstring>
#include <map>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/interrupt.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "catch.hpp"
#include "run/lock.hpp"
#include "run/manifest.hpp"
#include "run/memory.hpp"
#include "run/trial_files.hpp"
#include "sample.hpp"
#include "store/reader.hpp"
#include "store/same.hpp"

namespace headcount {
namespace {

namespace fs = std::filesystem;
using Status = TrialOutcome::Status;

std::vector<Status> statuses(const std::vector<TrialOutcome>& outcomes) {
  std::vector<Status> found;
  for (const auto& outcome : outcomes) found.push_back(outcome.status);
  return found;
}

std::string differences(const fs::path& a, const fs::path& b) {
  std::string all;
  for (const auto& [path, what] : same(a, b, 1000)) all += path + ": " + what + "\n";
  return all;
}

TEST_CASE("a sweep runs each trial once, and again only what is not done") {
  const TemporaryFolder folder;
  const auto experiment = tiny({"seed=1 .. 3"});
  const auto out = folder.path() / "new" / "results";
  const auto first = run(experiment, out);
  CHECK(statuses(first) == std::vector{Status::done, Status::done, Status::done});
  std::vector<std::string> before;
  for (const auto& outcome : first) {
    CHECK(outcome.path == out / (outcome.trial_id + ".h5"));
    before.push_back(read_file(outcome.path));
  }
  CHECK(before[0] != before[1]);

  fs::remove(first[1].path);
  CHECK(statuses(run(experiment, out)) ==
        std::vector{Status::skipped, Status::done, Status::skipped});
  CHECK(read_file(first[0].path) == before[0]);
  CHECK(read_file(first[2].path) == before[2]);
  CHECK(statuses(run(experiment, out)) ==
        std::vector{Status::skipped, Status::skipped, Status::skipped});
  CHECK(files(out, ".h5").size() == 3);
  CHECK(files(out, ".jsonl").size() == 3);
  CHECK(files(out, ".log").size() == 3);
  CHECK(files(out, ".json") == std::vector<std::string>{"sweep.json"});
  CHECK(files(out, ".lock") == std::vector<std::string>{".lock"});
  CHECK(files(out, "").size() == 11);  // nothing else, no temporary file either
}

TEST_CASE("a damaged or altered file runs again and gives the same result") {
  const TemporaryFolder folder;
  const auto experiment = tiny();
  const auto path = run(experiment, folder.path()).front().path;
  const auto kept = folder.path() / "kept.copy";
  fs::copy_file(path, kept);
  const auto bytes = read_file(path);

  SECTION("cut off") { write_text(path, bytes.substr(0, bytes.size() / 2)); }
  SECTION("empty") { write_text(path, ""); }
  SECTION("not a trial file") { write_text(path, "<html>"); }
  SECTION("one number altered") {
    double loss = ResultFile(path).read<double>("/training/loss").front();
    const std::string number(reinterpret_cast<const char*>(&loss), sizeof loss);
    auto altered = bytes;
    const auto place = altered.find(number);
    REQUIRE(place != std::string::npos);
    altered[place] = static_cast<char>(altered[place] ^ 1);
    write_text(path, altered);
  }
  CHECK(validate(path));
  CHECK(statuses(run(experiment, folder.path())) == std::vector{Status::done});
  CHECK_FALSE(validate(path));
  CHECK(differences(path, kept).empty());
}

TEST_CASE("one, two or three threads write the same bits") {
  const TemporaryFolder one, two, three;
  const auto path = run_one(one.path(), {}, 1);
  CHECK(differences(path, run_one(two.path(), {}, 2)).empty());
  CHECK(differences(path, run_one(three.path(), {}, 3)).empty());
  const std::vector<std::string> profiled{"model.init=admin", "model.norm=post",
                                          "model.residual=scaled-stream"};
  CHECK(differences(run_one(one.path(), profiled, 1), run_one(two.path(), profiled, 2)).empty());
  // and the comparison sees something when there is something
  const TemporaryFolder other;
  CHECK_THAT(differences(path, run_one(other.path(), {"seed.data=5"})),
             ContainsSubstring("/training/loss"));
}

// Run by the test below in a process of its own.
TEST_CASE("write a trial of wide products", "[.child]") {
  const char* folder = std::getenv("HEADCOUNT_TEST_OUT");
  REQUIRE(folder);
  run_one(folder,
          {"model.d-model=96", "train.batch-tokens=1024", "train.steps=2", "prune.methods=random"});
}

TEST_CASE("OpenMP's number of threads does not change a bit") {
  std::vector<fs::path> paths;
  const TemporaryFolder folder;
  for (const char* threads : {"1", "2", "8"}) {
    const auto out = folder.path() / threads;
    fs::create_directory(out);
    const auto program = fs::read_symlink("/proc/self/exe").string();
    const auto result = run_process(
        {"env", std::string("OMP_NUM_THREADS=") + threads, "HEADCOUNT_TEST_OUT=" + out.string(),
         program, "write a trial of wide products"},
        folder.path());
    INFO(result.output);
    REQUIRE(result.ok());
    const auto written = files(out, ".h5");
    REQUIRE(written.size() == 1);
    paths.push_back(out / written.front());
  }
  CHECK(differences(paths[0], paths[1]).empty());
  CHECK(differences(paths[0], paths[2]).empty());
}

TEST_CASE("a trial that diverges is recorded and the others go on") {
  const TemporaryFolder folder;
  const auto experiment = tiny({"train.learning-rate=0.01, 1e30, 0.02", "train.warm-up=0"});
  const auto outcomes = run(experiment, folder.path());
  REQUIRE(statuses(outcomes) == std::vector{Status::done, Status::failed, Status::done});
  const auto& failed = outcomes[1];
  CHECK(failed.code == ExitCode::bad_data);
  CHECK_THAT(failed.reason, ContainsSubstring("training diverged at step"));
  CHECK_FALSE(fs::exists(failed.path));
  const auto note = folder.path() / (failed.trial_id + ".failed.json");
  REQUIRE(files(folder.path(), ".failed.json") == std::vector{note.filename().string()});
  const auto json = parse_json(read_file(note));
  CHECK(json.at("trial") == failed.trial_id);
  CHECK(json.at("reason") == failed.reason);
  CHECK(json.at("code") == 65);

  // it is tried again, the others are done
  CHECK(statuses(run(experiment, folder.path())) ==
        std::vector{Status::skipped, Status::failed, Status::skipped});
}

TEST_CASE("a trial that succeeds takes its failure back") {
  const TemporaryFolder folder;
  const auto path = run_one(folder.path());
  auto note = path;
  note.replace_extension(".failed.json");
  fs::remove(path);
  write_text(note, "{}");
  run_one(folder.path());
  CHECK(fs::exists(path));
  CHECK_FALSE(fs::exists(note));
}

TEST_CASE("data that cannot be had fails its trials only, whichever come after") {
  const TemporaryFolder folder;
  const auto missing = "file:" + (folder.path() / "missing.txt").string();
  const auto experiment =
      tiny({}, "[axis]\ntrain.steps = 1, 2\ntask.data = synthetic.recall, " + missing + "\n");
  const auto outcomes = run(experiment, folder.path() / "out");
  REQUIRE(statuses(outcomes) ==
          std::vector{Status::done, Status::failed, Status::done, Status::failed});
  CHECK(outcomes[1].code == ExitCode::no_input);
  CHECK_THAT(outcomes[1].reason, ContainsSubstring("missing.txt"));
}

TEST_CASE("a folder that cannot be made is told") {
  const TemporaryFolder folder;
  write_text(folder.path() / "file", "");
  try {
    run(tiny(), folder.path() / "file" / "results");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::cannot_create);
    CHECK_THAT(error.what(), ContainsSubstring("file/results"));
  }
}

TEST_CASE("a result that cannot be written is a failure of its trial") {
  const TemporaryFolder folder;
  const auto outcome = run(tiny(), folder.path()).front();
  fs::remove(outcome.path);
  fs::create_directory(outcome.path);  // in the way of the file
  const auto again = run(tiny(), folder.path()).front();
  CHECK(again.status == Status::failed);
  CHECK(again.code == ExitCode::cannot_create);
  CHECK(files(folder.path(), ".part").empty());
}

// A sweep in a process of its own, as the program would run it.
class Runner {
 public:
  Runner(const Experiment& experiment, const SweepOptions& options) : pid_(::fork()) {
    if (pid_ == 0) ::_exit(sweep(experiment, options));
  }
  ~Runner() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  void signal(int number) const { REQUIRE(::kill(pid_, number) == 0); }

  // Its exit code: of the first failure, or of what ended the sweep; -signal.
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  static int sweep(const Experiment& experiment, const SweepOptions& options) {
    try {
      stop_on_signals();
      for (const auto& outcome : run_sweep(experiment, options))
        if (outcome.status == Status::failed) return static_cast<int>(outcome.code);
      return 0;
    } catch (const Error& error) {
      return static_cast<int>(error.code());
    } catch (...) {
      return 1;
    }
  }

  pid_t pid_;
};

template <class Condition>
bool comes_true(const Condition& condition) {
  for (int tries = 0; tries < 60'000; ++tries) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

// Names of trials whose curve has begun, and that start so.
bool has_begun(const fs::path& folder, const std::string& trial) {
  if (!fs::exists(folder)) return false;
  for (const auto& name : files(folder, ".jsonl"))
    if (name.starts_with(trial) && fs::file_size(folder / name) > 0) return true;
  return false;
}

// How often each trial was started: by its log.
std::map<std::string, int> starts(const fs::path& folder) {
  std::map<std::string, int> counts;
  for (const auto& name : files(folder, ".log")) {
    std::istringstream log(read_file(folder / name));
    for (std::string line; std::getline(log, line);)
      if (line.find(" starts in process ") != std::string::npos) ++counts[name];
  }
  return counts;
}

std::map<std::string, int> once_each(const std::vector<TrialOutcome>& outcomes) {
  std::map<std::string, int> counts;
  for (const auto& outcome : outcomes) counts[outcome.trial_id + ".log"] = 1;
  return counts;
}

// The process of the one trial that runs; 0 while there is none.
pid_t running_process(const fs::path& folder) {
  for (const auto& name : files(folder, ".lock"))
    if (const auto lock = read_lock(folder / name); name != ".lock" && lock)
      return static_cast<pid_t>(lock->owner.pid);
  return 0;
}

std::string only_failure(const fs::path& folder) {
  const auto names = files(folder, ".failed.json");
  REQUIRE(names.size() == 1);
  return read_failure(folder / names.front())->reason;
}

TEST_CASE("a sweep that is interrupted keeps what is done and leaves nothing half-written") {
  const TemporaryFolder folder;
  const auto& out = folder.path();
  auto options = quiet_into(out);
  options.jobs = 2;
  Runner runner(tiny({"train.steps=6, 2000000"}), options);
  REQUIRE(
      comes_true([&] { return has_begun(out, "steps-2000000") && files(out, ".h5").size() == 1; }));
  runner.signal(SIGTERM);
  CHECK(runner.wait() == 75);

  const auto done = files(out, ".h5");
  REQUIRE(done.size() == 1);
  CHECK(done.front().starts_with("steps-6-"));
  CHECK_FALSE(validate(out / done.front()));
  CHECK(files(out, ".part").empty());
  CHECK(files(out, ".failed.json").empty());  // an interruption is no failure
  CHECK(files(out, ".lock") == std::vector<std::string>{".lock"});
  CHECK(statuses(run(tiny({"train.steps=6, 7"}), out)) ==
        std::vector{Status::skipped, Status::done});
}

TEST_CASE("outcomes stand in the order of the spec, whatever runs first") {
  const TemporaryFolder folder;
  const auto experiment = tiny({"train.steps=2, 60, 4"});
  const auto outcomes = run(experiment, folder.path());
  REQUIRE(statuses(outcomes) == std::vector{Status::done, Status::done, Status::done});
  CHECK(outcomes[0].trial_id.starts_with("steps-2-"));
  CHECK(outcomes[1].trial_id.starts_with("steps-60-"));
  CHECK(outcomes[2].trial_id.starts_with("steps-4-"));
  for (const auto& outcome : outcomes) CHECK(fs::exists(outcome.path));
  // the longest ran first
  CHECK(fs::last_write_time(outcomes[1].path) <= fs::last_write_time(outcomes[2].path));
  CHECK(fs::last_write_time(outcomes[2].path) <= fs::last_write_time(outcomes[0].path));
}

TEST_CASE("of two hundred trials two at a time none is lost and none runs twice") {
  const TemporaryFolder folder;
  auto options = quiet_into(folder.path());
  options.jobs = 2;
  const auto outcomes = run_sweep(many_tiny(200), options);
  REQUIRE(outcomes.size() == 200);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    CHECK(outcomes[i].status == Status::done);
    CHECK(outcomes[i].trial_id.starts_with("seed-" + std::to_string(i + 1) + "-"));
  }
  CHECK(files(folder.path(), ".h5").size() == 200);
  CHECK(starts(folder.path()) == once_each(outcomes));
}

TEST_CASE("two runners on one folder never run a trial twice") {
  const TemporaryFolder folder;
  auto options = quiet_into(folder.path());
  options.jobs = 2;
  const auto experiment = many_tiny(30);
  {
    Runner one(experiment, options), other(experiment, options);
    CHECK(one.wait() == 0);
    CHECK(other.wait() == 0);
  }
  CHECK(files(folder.path(), ".h5").size() == 30);
  const auto after = run_sweep(experiment, options);
  CHECK(statuses(after) == std::vector(30, Status::skipped));
  CHECK(starts(folder.path()) == once_each(after));
  CHECK(files(folder.path(), ".lock") == std::vector<std::string>{".lock"});
}

TEST_CASE("a trial killed from outside is tried again and ends the same") {
  const TemporaryFolder folder, straight;
  const std::vector<std::string> sets{"train.steps=1500"};
  auto options = quiet_into(folder.path());
  options.checkpoints = {100, 0};
  Runner runner(tiny(sets), options);
  REQUIRE(comes_true([&] { return has_begun(folder.path(), "tiny"); }));
  SECTION("by SIGKILL") { REQUIRE(::kill(running_process(folder.path()), SIGKILL) == 0); }
  SECTION("by SIGTERM") { REQUIRE(::kill(running_process(folder.path()), SIGTERM) == 0); }
  CHECK(runner.wait() == 0);
  const auto results = files(folder.path(), ".h5");
  REQUIRE(results.size() == 1);
  CHECK(starts(folder.path()).begin()->second == 2);
  CHECK(differences(folder.path() / results.front(), run_one(straight.path(), sets)).empty());
}

TEST_CASE("a trial that is killed once too often fails with the signal as its reason") {
  const TemporaryFolder folder;
  auto options = quiet_into(folder.path());
  options.retries = 0;
  Runner runner(tiny({"train.steps=2000000"}), options);
  REQUIRE(comes_true([&] { return has_begun(folder.path(), "tiny"); }));
  REQUIRE(::kill(running_process(folder.path()), SIGKILL) == 0);
  CHECK(runner.wait() == 70);
  CHECK_THAT(only_failure(folder.path()),
             ContainsSubstring("killed by signal 9 (SIGKILL); perhaps the machine ran out"));
  CHECK(files(folder.path(), ".lock") == std::vector<std::string>{".lock"});
}

TEST_CASE("a trial that diverges is not tried again") {
  const TemporaryFolder folder;
  auto options = quiet_into(folder.path());
  options.retries = 3;
  const auto outcome =
      run_sweep(tiny({"train.learning-rate=1e30", "train.warm-up=0"}), options).front();
  CHECK(outcome.status == Status::failed);
  CHECK(starts(folder.path()) == once_each({outcome}));
}

TEST_CASE("with fail-fast the first failure leaves the rest") {
  const TemporaryFolder folder;
  auto options = quiet_into(folder.path());
  options.fail_fast = true;
  const auto experiment =
      tiny({"train.warm-up=0"}, "[axis]\ntrain.steps = 2, 9\ntrain.learning-rate = 0.01, 1e30\n");
  const auto outcomes = run_sweep(experiment, options);
  // the long ones come first, the first of them is well
  CHECK(statuses(outcomes) ==
        std::vector{Status::left, Status::left, Status::done, Status::failed});
  CHECK(outcomes[3].code == ExitCode::bad_data);
}

TEST_CASE("children of a runner that was killed leave and give their locks back") {
  const TemporaryFolder folder;
  {
    Runner runner(tiny({"train.steps=2000000"}), quiet_into(folder.path()));
    REQUIRE(comes_true([&] { return has_begun(folder.path(), "tiny"); }));
  }  // SIGKILL
  CHECK(comes_true(
      [&] { return files(folder.path(), ".lock") == std::vector<std::string>{".lock"}; }));
  CHECK(files(folder.path(), ".part").empty());
}

TEST_CASE("SIGUSR1 ends neither the runner nor its trials") {
  const TemporaryFolder folder;
  Runner runner(tiny({"train.steps=1500"}), quiet_into(folder.path()));
  REQUIRE(comes_true([&] { return has_begun(folder.path(), "tiny"); }));
  runner.signal(SIGUSR1);
  CHECK(runner.wait() == 0);
  CHECK(starts(folder.path()).begin()->second == 1);
}

TEST_CASE("a trial too large for the memory it may take is not started") {
  const TemporaryFolder folder;
  auto options = quiet_into(folder.path());
  options.memory = 4096;
  const auto outcome = run_sweep(tiny(), options).front();
  CHECK(outcome.status == Status::failed);
  CHECK(outcome.code == ExitCode::bad_data);
  CHECK_THAT(outcome.reason, ContainsSubstring("more than the 4 KiB of --memory"));
  CHECK(files(folder.path(), ".log").empty());
}

TEST_CASE("a trial that takes more memory than its estimate ends there") {
  if (!can_limit_memory()) return;  // a sanitizer cannot live under a limit
  const TemporaryFolder folder;
  auto options = quiet_into(folder.path());
  options.memory = 150'000'000;  // its data alone are more
  options.retries = 3;
  const auto outcome =
      run_sweep(tiny({"task.recall-examples=400000", "evaluate.examples=10", "measure.examples=10",
                      "prune.examples=10", "model.d-model=96"}),
                options)
          .front();
  CHECK(outcome.status == Status::failed);
  CHECK(outcome.code == ExitCode::bad_data);
  CHECK_THAT(outcome.reason, ContainsSubstring("--memory"));
  CHECK(files(folder.path(), ".h5").empty());
  for (const auto& [log, count] : starts(folder.path())) CHECK(count == 1);
}

TEST_CASE("a folder that vanishes while trials run fails them and not the runner") {
  const TemporaryFolder folder;
  const auto out = folder.path() / "out";
  Runner runner(tiny({"train.steps=1500", "seed=1 .. 3"}), quiet_into(out));
  REQUIRE(comes_true([&] { return has_begun(out, "seed-1-"); }));
  fs::remove_all(out);
  CHECK(runner.wait() == static_cast<int>(ExitCode::cannot_create));
}

TEST_CASE("a folder that may not be written is told") {
  const TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms(::geteuid() == 0 ? 0755 : 0555));
  const pid_t child = ::fork();
  if (child == 0) {  // permissions do not bind root
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(73);
    int code = 0;
    try {
      run(tiny(), folder.path());
    } catch (const Error& error) {
      code = static_cast<int>(error.code());
    }
    ::_exit(code);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 73);
  fs::permissions(folder.path(), fs::perms(0755));
}

TEST_CASE("what killed runners left is taken over or removed") {
  const TemporaryFolder folder;
  const auto outcome = run(tiny(), folder.path()).front();
  fs::remove(outcome.path);
  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ::waitpid(dead, nullptr, 0);
  const auto part = [&](pid_t pid) {
    return folder.path() / fmt::format("x.h5.{}.{}.0.part", host_name(), pid);
  };
  write_text(part(dead), "half");
  write_text(part(::getpid()), "half");
  auto owner = LockOwner::self("token");
  write_text(folder.path() / (outcome.trial_id + ".lock"), Json{{"host", owner.host},
                                                                {"boot", owner.boot},
                                                                {"processes", owner.processes},
                                                                {"pid", dead},
                                                                {"started", 7},
                                                                {"token", owner.token}}
                                                               .dump());
  CHECK(statuses(run(tiny(), folder.path())) == std::vector{Status::done});
  CHECK_FALSE(fs::exists(part(dead)));
  CHECK(fs::exists(part(::getpid())));
  CHECK(files(folder.path(), ".lock") == std::vector<std::string>{".lock"});
}

TEST_CASE("a broken sweep.json is written anew") {
  const TemporaryFolder folder;
  write_text(folder.path() / "sweep.json", "{\"schema\": 1, \"trials\": [{]");
  const auto outcome = run(tiny(), folder.path()).front();
  CHECK(read_manifest(folder.path()).trials.front().id == outcome.trial_id);
}

TEST_CASE("of trials that train the same model one trains first") {
  const TemporaryFolder folder;
  auto options = quiet_into(folder.path());
  options.jobs = 3;
  const auto outcomes = run_sweep(tiny({"prune.step=0.2, 0.4, 0.5"}), options);
  REQUIRE(statuses(outcomes) == std::vector{Status::done, Status::done, Status::done});
  std::string leader;
  int followers = 0;
  for (const auto& outcome : outcomes) {
    const auto log = read_file(folder.path() / (outcome.trial_id + ".log"));
    if (log.find("may take its training from") == std::string::npos)
      leader += outcome.path.string();
    else
      ++followers;
  }
  CHECK(followers == 2);
  for (const auto& outcome : outcomes)
    if (outcome.path != leader)
      CHECK_THAT(read_file(folder.path() / (outcome.trial_id + ".log")),
                 ContainsSubstring("may take its training from " + leader));
}

TEST_CASE("the runner itself stays on one thread") {
  const auto threads = [] {
    return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
  };
  const TemporaryFolder folder;
  const auto before = threads();
  run(tiny(), folder.path(), 3);
  CHECK(threads() == before);
}

}  // namespace
}  // namespace headcount
