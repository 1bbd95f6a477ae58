#include "run/sweep.hpp"

#include <csignal>
#include <cstring>
#include <thread>

#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/interrupt.hpp"
#include "catch.hpp"
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
  CHECK(files(out, "").size() == 6);  // nothing else, no temporary file either
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
  const auto json = nlohmann::json::parse(read_file(note));
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

// Ends this process as the program would end.
[[noreturn]] void sweep_until_stopped(const fs::path& folder) {
  int code = 0;
  try {
    stop_on_signals();
    run(tiny({"train.steps=6, 1000000000"}), folder);
  } catch (const Interrupted& error) {
    code = static_cast<int>(error.code());
  } catch (...) {
    code = 1;
  }
  ::_exit(code);
}

TEST_CASE("a sweep that is interrupted keeps what is done and leaves nothing half-written") {
  const TemporaryFolder folder;
  const auto& out = folder.path();
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) sweep_until_stopped(out);
  const auto has_begun = [&](const char* trial) {
    for (const auto& name : files(out, ".jsonl"))
      if (name.starts_with(trial)) return fs::file_size(out / name) > 0;
    return false;
  };
  int status = 0;
  for (int tries = 0; tries < 20000 && !has_begun("steps-1000000000"); ++tries) {
    REQUIRE(::waitpid(child, &status, WNOHANG) == 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  REQUIRE(::kill(child, SIGTERM) == 0);
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 75);

  const auto done = files(out, ".h5");
  REQUIRE(done.size() == 1);
  CHECK(done.front().starts_with("steps-6-"));
  CHECK_FALSE(validate(out / done.front()));
  CHECK(files(out, ".part").empty());
  CHECK(files(out, ".failed.json").empty());  // an interruption is no failure
  CHECK(statuses(run(tiny({"train.steps=6, 7"}), out)) ==
        std::vector{Status::skipped, Status::done});
}

}  // namespace
}  // namespace headcount
