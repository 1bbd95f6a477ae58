#include <csignal>
#include <cstring>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/interrupt.hpp"
#include "catch.hpp"
#include "run/array_file.hpp"
#include "run/checkpoint.hpp"
#include "run/trial.hpp"
#include "sample.hpp"
#include "store/reader.hpp"
#include "store/same.hpp"
#include "task/make_task.hpp"

// A trial that is stopped and goes on ends in the bits of one that was not.

namespace headcount {
namespace {

namespace fs = std::filesystem;

struct Crash {};  // what no code of ours catches

// The tiny trial in a folder of its own, as a runner would start it.
class Tiny {
 public:
  explicit Tiny(const std::vector<std::string>& sets = {})
      : experiment_(tiny(sets)), task_(make_task(task_config(spec().settings))) {}

  const TrialSpec& spec() const { return experiment_.trials.front(); }
  const Settings& settings() const { return spec().settings; }
  fs::path path() const { return folder_.path() / "tiny-1.h5"; }
  const fs::path& folder() const { return folder_.path(); }
  Model<float> model() const {
    return Model<float>(
        model_config(settings(), task_->vocabulary_size(), task_->longest_sequence()));
  }

  TrialJob job() const {
    TrialJob job;
    job.experiment = &experiment_;
    job.spec = &spec();
    job.task = task_.get();
    job.id = "tiny-1";
    job.path = path();
    job.checkpoints = {1, 0};
    return job;
  }

  void run(const TrialJob& job, int threads = 1) const {
    ThreadTeam team(threads);
    Progress progress("tiny", folder_.path() / "tiny-1.jsonl", true);
    run_trial(job, team, progress);
  }
  void run() const { run(job()); }

  // Runs until the n-th checkpoint is written; whether it came so far.
  bool crash_after(int checkpoints, int threads = 1) const {
    auto doomed = job();
    int written = 0;
    doomed.checkpoint_written = [&] {
      if (++written == checkpoints) throw Crash();
    };
    try {
      run(doomed, threads);
    } catch (const Crash&) {
      return true;
    }
    return false;
  }

 private:
  TemporaryFolder folder_;
  Experiment experiment_;
  std::unique_ptr<Task> task_;
};

std::string differences(const fs::path& a, const fs::path& b) {
  std::string all;
  for (const auto& [path, what] : same(a, b, 1000)) all += path + ": " + what + "\n";
  return all;
}

TEST_CASE("a trial stopped after any piece of its work goes on to the same bits") {
  const std::vector<std::string> plain,
      best{"evaluate.parameters=best", "train.validate-every=1", "train.learning-rate=0.3",
           "train.schedule=constant"},
      masked{"mask.heads=decoder_self:1:1", "mask.kind=mean"},
      untrained{"train.steps=0", "measure.during-training="};
  for (const auto& sets : {plain, best, masked, untrained}) {
    const Tiny undisturbed(sets);
    undisturbed.run();
    CHECK(files(undisturbed.folder(), "") == std::vector<std::string>{"tiny-1.h5", "tiny-1.jsonl"});
    int pieces = 0;
    for (int n = 1;; n += 7) {
      const Tiny trial(sets);
      if (!trial.crash_after(n, 1 + n % 2)) break;
      pieces = n;
      CAPTURE(sets, n);
      REQUIRE_FALSE(fs::exists(trial.path()));
      trial.run(trial.job(), 1 + n / 2 % 2);
      REQUIRE(differences(undisturbed.path(), trial.path()).empty());
      REQUIRE(files(trial.folder(), "checkpoint").empty());
    }
    CHECK(pieces > 20);  // steps, validations, passes of evaluation, measures and pruning
  }
}

TEST_CASE("a trial stopped again and again ends in the same bits") {
  const Tiny undisturbed;
  undisturbed.run();
  const Tiny trial;
  int crashes = 0;
  while (trial.crash_after(2)) ++crashes;
  CHECK(crashes > 10);
  CHECK(differences(undisturbed.path(), trial.path()).empty());
}

void damage(const fs::path& path) {
  auto bytes = read_file(path);
  bytes[bytes.size() / 2] ^= 1;
  write_text(path, bytes);
}

TEST_CASE("a damaged checkpoint is passed over for the one before it, and that for the beginning") {
  const Tiny undisturbed;
  undisturbed.run();
  const Tiny trial;
  REQUIRE(trial.crash_after(5));
  const auto newest = checkpoint_path(trial.path());
  auto previous = newest;
  previous += ".previous";
  std::vector<std::string> problems;
  const auto steps = [&] {
    problems.clear();
    const auto state = load_checkpoint(trial.path(), "tiny-1", trial.model(), problems);
    return state ? static_cast<int>(state->training.steps.size()) : -1;
  };
  CHECK(steps() == 4);  // and a validation
  CHECK(problems.empty());

  SECTION("the newest is damaged") {
    damage(newest);
    CHECK(steps() == 4);  // without the validation
    REQUIRE(problems.size() == 1);
    CHECK_THAT(problems[0], ContainsSubstring(newest.string()) && ContainsSubstring("damaged"));
  }
  SECTION("the newest is cut off") {
    write_text(newest, read_file(newest).substr(0, 1000));
    CHECK(steps() == 4);
  }
  SECTION("stopped between two renames") {
    fs::remove(newest);
    CHECK(steps() == 4);
    CHECK(problems.empty());
  }
  SECTION("both are damaged") {
    damage(newest);
    write_text(previous, "");
    CHECK(steps() == -1);
    CHECK(problems.size() == 2);
  }
  SECTION("they are another trial's") {
    CHECK_FALSE(load_checkpoint(trial.path(), "tiny-2", trial.model(), problems));
    CHECK_THAT(problems.at(0), ContainsSubstring("the checkpoint of another trial"));
  }
  trial.run();
  CHECK(differences(undisturbed.path(), trial.path()).empty());
}

// The same checkpoint, made by a build that differs in this.
void forge(const fs::path& path, const std::string& what) {
  auto bytes = read_file(path);
  bytes.resize(bytes.size() - 64);
  const auto key = "\"" + what + "\":\"";
  const auto place = bytes.find(key);
  REQUIRE(place != std::string::npos);
  const bool is_empty = bytes[place + key.size()] == '"';  // no commit, outside of git
  bytes[is_empty ? place + 1 : place + key.size()] = '?';
  write_text(path, bytes + array_file_hash(bytes));
}

TEST_CASE("a checkpoint from another instruction-set level or build is refused unless told") {
  const Tiny undisturbed;
  undisturbed.run();
  for (const std::string what : {"instruction set", "commit", "compiler", "products"}) {
    CAPTURE(what);
    const Tiny trial;
    REQUIRE(trial.crash_after(3));
    const auto path = checkpoint_path(trial.path());
    forge(path, what);
    const auto forged = read_file(path);
    try {
      trial.run();
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::bad_data);
      CHECK_THAT(error.what(), ContainsSubstring(path.string()) && ContainsSubstring(what) &&
                                   ContainsSubstring("--restart"));
    }
    CHECK(read_file(path) == forged);  // nothing is lost
    CHECK_FALSE(fs::exists(trial.path()));
    auto anew = trial.job();
    anew.restart = true;
    trial.run(anew);
    CHECK(differences(undisturbed.path(), trial.path()).empty());
  }
}

TEST_CASE("a checkpoint that cannot be written is told and the trial goes on") {
  const Tiny undisturbed;
  undisturbed.run();
  const Tiny trial;
  fs::create_directory(checkpoint_path(trial.path()));  // in the way
  fs::create_directory(checkpoint_path(trial.path()) / "full");
  fs::create_directory(checkpoint_path(trial.path()).string() + ".previous");
  write_text(checkpoint_path(trial.path()).string() + ".previous/full", "");
  trial.run();
  CHECK(differences(undisturbed.path(), trial.path()).empty());
}

// Runs the trial in a process of its own, as a runner does, until it is told to stop.
[[noreturn]] void run_until_stopped(const Tiny& trial, const TrialJob& job) {
  int code = 0;
  try {
    stop_on_signals();
    trial.run(job, 2);
  } catch (const Interrupted& error) {
    code = static_cast<int>(error.code());
  } catch (...) {
    code = 1;
  }
  ::_exit(code);
}

void wait_for(const fs::path& path) {
  for (int tries = 0; tries < 20000 && !fs::exists(path); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  REQUIRE(fs::exists(path));
}

std::int64_t steps_in_checkpoint(const Tiny& trial) {
  std::vector<std::string> problems;
  const auto state = load_checkpoint(trial.path(), "tiny-1", trial.model(), problems);
  REQUIRE(state);
  return std::ssize(state->training.steps);
}

TEST_CASE("SIGUSR1 asks for a checkpoint and the trial goes on, SIGTERM for one and it leaves") {
  const Tiny trial({"train.steps=1000000000", "train.validate-every=0"});
  auto job = trial.job();
  job.checkpoints = {0, 0};  // only when asked
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) run_until_stopped(trial, job);
  while (fs::exists(trial.folder() / "tiny-1.jsonl") == false ||
         fs::file_size(trial.folder() / "tiny-1.jsonl") == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  CHECK_FALSE(fs::exists(checkpoint_path(trial.path())));
  REQUIRE(::kill(child, SIGUSR1) == 0);
  wait_for(checkpoint_path(trial.path()));
  const auto first = steps_in_checkpoint(trial);
  CHECK(first > 0);
  int status = 0;
  CHECK(::waitpid(child, &status, WNOHANG) == 0);  // goes on
  REQUIRE(::kill(child, SIGTERM) == 0);
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 75);
  CHECK(steps_in_checkpoint(trial) >= first);
  CHECK(files(trial.folder(), ".h5").empty());
  CHECK(files(trial.folder(), ".part").empty());
}

TEST_CASE("signals amid products do not change a bit") {
  // Wide enough for products made by generated code.
  const std::vector<std::string> sets{"model.d-model=96",        "model.heads=3",
                                      "task.recall-examples=64", "train.steps=40",
                                      "train.batch-tokens=1024", "prune.methods=random"};
  const Tiny undisturbed(sets);
  undisturbed.run();
  const Tiny trial(sets);
  auto job = trial.job();
  job.checkpoints = {0, 0};
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) run_until_stopped(trial, job);
  int status = 0, signals = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    // The first only once there is a handler. Who needs ever more hangs in a heap that was written
    // across.
    constexpr int kMost = 100'000;
    if (fs::exists(trial.folder() / "tiny-1.jsonl")) signals += ::kill(child, SIGUSR1) == 0;
    if (signals == kMost) ::kill(child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  CHECK(signals > 10);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  CHECK(differences(undisturbed.path(), trial.path()).empty());
}

// The file of a trial with these settings that was offered the training of `trained`.
struct TakenOver {
  Tiny trial;
  std::string trained_in;
  explicit TakenOver(const fs::path& trained, const std::vector<std::string>& sets) : trial(sets) {
    auto job = trial.job();
    job.trained = trained;
    trial.run(job);
    trained_in = ResultFile(trial.path()).read_text("/provenance/trained_in");
  }
};

TEST_CASE("what only measures, prunes or masks otherwise takes training over, bit for bit") {
  const Tiny donor;
  donor.run();
  // so that a test can tell the trials apart by name
  const auto trained = donor.folder() / "donor.h5";
  fs::copy_file(donor.path(), trained);
  for (const auto& sets : {std::vector<std::string>{"measure.measures=entropy"},
                           {"prune.methods=random", "prune.step=0.2", "prune.examples=5"},
                           {"mask.heads=decoder_self:1:*", "mask.kind=uniform"},
                           {"measure.patterns=1", "measure.split=test"}}) {
    CAPTURE(sets);
    const Tiny alone(sets);
    alone.run();
    const TakenOver taken(trained, sets);
    CHECK(differences(alone.path(), taken.trial.path()).empty());
    // nothing was trained: no step in the curve of this process
    CHECK(read_file(taken.trial.folder() / "tiny-1.jsonl").find("\"step\"") == std::string::npos);
  }
}

TEST_CASE("another training, or another record of it, is not taken over") {
  const Tiny donor;
  donor.run();
  for (const auto& sets : {std::vector<std::string>{"train.steps=5"},
                           {"seed=2"},
                           {"model.activation=relu"},
                           {"measure.during-training=entropy"},
                           {"measure.examples=5"},  // those measured while training
                           {"evaluate.examples=5"},
                           {"evaluate.parameters=best"},
                           {"mask.heads=decoder_self:1:1", "mask.when=both"}}) {
    CAPTURE(sets);
    const Tiny alone(sets);
    alone.run();
    const TakenOver taken(donor.path(), sets);
    CHECK(differences(alone.path(), taken.trial.path()).empty());
    CHECK(read_file(taken.trial.folder() / "tiny-1.jsonl").find("\"step\"") != std::string::npos);
  }
  const TakenOver damaged(donor.folder() / "tiny-1.jsonl", {});
  CHECK(differences(donor.path(), damaged.trial.path()).empty());
}

}  // namespace
}  // namespace headcount
