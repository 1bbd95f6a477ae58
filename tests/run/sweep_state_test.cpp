#include "run/sweep_state.hpp"

#include <optional>

#include "catch.hpp"
#include "run/lock.hpp"
#include "run/trial_files.hpp"
#include "sample.hpp"

namespace headcount {
namespace {

namespace fs = std::filesystem;
using State = TrialState::State;

TEST_CASE("how far each trial is shows in its files") {
  const TemporaryFolder folder;
  const auto outcomes = run(many_tiny(6), folder.path());
  std::vector<TrialFiles> files;
  for (const auto& outcome : outcomes) files.emplace_back(folder.path(), outcome.trial_id);
  const auto curve = [&](std::size_t i, int step) {
    write_text(files[i].curve, "{\"step\":" + std::to_string(step) + "}\n");
  };
  write_text(files[1].result, "cut off");
  for (const auto i : {2U, 3U, 4U, 5U}) fs::remove(files[i].result);
  const auto lock = TrialLock::take(files[2].lock, "token");
  curve(2, 1);
  write_failure(files[3].failure, {outcomes[3].trial_id, "diverged", ExitCode::bad_data});
  write_text(folder.path() / (outcomes[4].trial_id + ".checkpoint"), "");
  curve(4, 1);

  const auto states = sweep_state(folder.path());
  REQUIRE(states.size() == 6);
  CHECK(states[0].state == State::done);
  CHECK(states[0].seconds > 0);
  CHECK(states[1].state == State::damaged);
  CHECK_THAT(states[1].detail, ContainsSubstring("not an HDF5 file"));
  CHECK(states[2].state == State::running);
  CHECK_THAT(states[2].detail,
             ContainsSubstring("process " + std::to_string(::getpid()) + " on ") &&
                 ContainsSubstring("step 1 of 1"));
  CHECK(states[3].state == State::failed);
  CHECK(states[3].detail == "diverged");
  CHECK(states[4].state == State::stopped);
  CHECK_THAT(states[4].detail, ContainsSubstring("step 1 of 1"));
  CHECK(states[5].state == State::left);
  CHECK(states[5].done_share == 0);  // its curve does not count without a checkpoint
  for (std::size_t i = 0; i < 6; ++i) CHECK(states[i].trial.id == outcomes[i].trial_id);
}

TEST_CASE("the time left follows from what finished trials took and how many run now") {
  const auto trial = [](State state, double operations, double share, double seconds) {
    return TrialState{{"", "", {}, 1, operations}, state, "", share, seconds};
  };
  std::vector<TrialState> states{trial(State::done, 100, 1, 10), trial(State::left, 300, 0, 0)};
  CHECK_FALSE(seconds_left(states));  // nothing runs
  states.push_back(trial(State::running, 200, 0.5, 0));
  CHECK(seconds_left(states).value() == Approx(40));  // 400 operations, 10 a second
  states.push_back(trial(State::running, 0, 0, 0));
  CHECK(seconds_left(states).value() == Approx(20));
  states.push_back(trial(State::failed, 1000, 0, 0));
  CHECK(seconds_left(states).value() == Approx(20));
  states.erase(states.begin());
  CHECK_FALSE(seconds_left(states));  // nothing has finished
}

}  // namespace
}  // namespace headcount
