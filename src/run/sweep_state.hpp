#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "run/manifest.hpp"

namespace headcount {

// How far one trial is, told from its files alone.
struct TrialState {
  enum class State { done, running, stopped, failed, damaged, left };
  Manifest::Trial trial;
  State state = State::left;
  std::string detail;     // for people: where it runs, why it failed
  double done_share = 0;  // of its training
  double seconds = 0;     // that a finished trial took
};
std::string_view name_of(TrialState::State state);

// The trials of a folder's sweep.json, in their order; writes nothing. Errors: those of
// read_manifest.
std::vector<TrialState> sweep_state(const std::filesystem::path& folder);

// Seconds until all is done, if as many trials go on as run now and as fast as the finished ones
// went. Nothing while none has finished or none runs.
std::optional<double> seconds_left(const std::vector<TrialState>& states);

}  // namespace headcount
