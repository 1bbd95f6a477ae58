#include "run/sweep_state.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "run/checkpoint.hpp"
#include "run/lock.hpp"
#include "run/trial_files.hpp"
#include "store/reader.hpp"

namespace headcount {
namespace fs = std::filesystem;
namespace {

using State = TrialState::State;

double wall_seconds(const fs::path& result) {
  const ResultFile file(result);
  double seconds = 0;
  if (!file.exists("/timing")) return seconds;
  for (const auto& name : file.children("/timing"))
    if (name.ends_with("_wall")) seconds += file.read_scalar<double>("/timing/" + name);
  return seconds;
}

// Whether somebody runs it: a lock of this host tells; one of another host is believed.
std::optional<LockOwner> runner_of(const TrialFiles& files) {
  const auto lock = read_lock(files.lock);
  if (!lock || state_of(lock->owner) == OwnerState::gone) return std::nullopt;
  return lock->owner;
}

TrialState state_of_trial(const fs::path& folder, const Manifest::Trial& trial) {
  const TrialFiles files(folder, trial.id);
  TrialState state{trial, State::left, "", 0, 0};
  const auto is = [&](State what, const std::string& detail) {
    state.state = what;
    state.detail = detail;
    return state;
  };
  const auto step = last_step(files.curve);
  const auto at_step = fmt::format("step {} of {}", step, trial.steps);
  if (fs::exists(files.result)) {
    if (const auto problem = validate(files.result)) return is(State::damaged, *problem);
    state.done_share = 1;
    state.seconds = wall_seconds(files.result);
    return is(State::done, "");
  }
  if (trial.steps > 0)
    state.done_share = std::min(1.0, static_cast<double>(step) / static_cast<double>(trial.steps));
  if (const auto owner = runner_of(files))
    return is(State::running,
              fmt::format("process {} on {}, {}", owner->pid,
                          owner->host.empty() ? "an unknown host" : owner->host, at_step));
  if (const auto failure = read_failure(files.failure)) return is(State::failed, failure->reason);
  if (has_checkpoint(files.result))
    return is(State::stopped, "goes on from its checkpoint; " + at_step);
  state.done_share = 0;  // without a checkpoint it begins anew
  return state;
}

}  // namespace

std::string_view name_of(State state) {
  switch (state) {
    case State::done:
      return "done";
    case State::running:
      return "running";
    case State::stopped:
      return "stopped";
    case State::failed:
      return "failed";
    case State::damaged:
      return "damaged";
    case State::left:
      break;
  }
  return "left";
}

std::vector<TrialState> sweep_state(const fs::path& folder) {
  std::vector<TrialState> states;
  for (const auto& trial : read_manifest(folder).trials)
    states.push_back(state_of_trial(folder, trial));
  return states;
}

std::optional<double> seconds_left(const std::vector<TrialState>& states) {
  double done = 0, seconds = 0, left = 0;
  int running = 0;
  for (const auto& [trial, state, detail, share, took] : states) {
    if (state == State::done) {
      done += trial.work;
      seconds += took;
    } else if (state != State::failed) {
      left += (1 - share) * trial.work;
    }
    running += state == State::running ? 1 : 0;
  }
  if (done == 0 || running == 0) return std::nullopt;
  return left * seconds / done / running;
}

}  // namespace headcount
