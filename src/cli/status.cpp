#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "run/progress.hpp"
#include "run/sweep_state.hpp"

namespace headcount {
namespace {

// "4 trials: 2 done, 1 running, 1 left; 12:30 left at this pace"
std::string summary(const std::vector<TrialState>& states) {
  using State = TrialState::State;
  std::vector<std::string> counts;
  for (const auto state :
       {State::done, State::running, State::stopped, State::failed, State::damaged, State::left}) {
    const auto count = std::count_if(states.begin(), states.end(),
                                     [&](const auto& trial) { return trial.state == state; });
    if (count > 0) counts.push_back(fmt::format("{} {}", count, name_of(state)));
  }
  auto text = fmt::format("{} trials: {}", states.size(), join(counts, ", "));
  if (const auto left = seconds_left(states))
    text += fmt::format("; ends in about {}, as fast as it went so far", clock_text(*left));
  return text;
}

ExitCode run(const Arguments& arguments) {
  const auto states = sweep_state(arguments.text("DIR"));
  Table table({"trial", "state", "detail"});
  for (const auto& trial : states)
    table.add_row({trial.trial.id, std::string(name_of(trial.state)), trial.detail});
  fmt::print("{}", render(table, arguments.format()));
  fmt::print(stderr, "{}\n", summary(states));
  return ExitCode::success;
}

}  // namespace

Command status_command() {
  return {"status",
          "how far a run is: each trial of its folder, done, running, failed or left",
          {{"DIR"}},
          "headcount status results/head-count",
          add_format_option,
          run};
}

}  // namespace headcount
