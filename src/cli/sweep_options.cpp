#include "cli/sweep_options.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"
#include "run/memory.hpp"

namespace headcount {
namespace {

CheckpointPolicy checkpoint_policy(const std::string& text) {
  constexpr std::string_view kUnits = "smh";
  const auto unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
  if (unit != std::string_view::npos) {
    constexpr std::array kSeconds{1.0, 60.0, 3600.0};
    const auto number = parse_real(std::string_view(text).substr(0, text.size() - 1));
    if (number && *number > 0) return {0, *number * kSeconds[unit]};
  } else if (const auto steps = parse_integer(text); steps && *steps >= 0) {
    return {*steps, 0};
  }
  throw Error(
      ExitCode::usage,
      fmt::format("--checkpoint takes steps (500) or a time (30s, 10m, 2h), not '{}'", text));
}

std::int64_t bytes(const std::string& text) {
  if (const auto bytes = parse_bytes(text)) return *bytes;
  throw Error(ExitCode::usage,
              fmt::format("--memory takes a size (8G, 512M, 1.5G), not '{}'", text));
}

}  // namespace

void add_sweep_options(boost::program_options::options_description& options) {
  namespace po = boost::program_options;
  const auto text = [] { return po::value<std::string>(); };
  options.add_options()                                              //
      ("jobs", text()->default_value("1"), "trials at a time")       //
      ("threads", text()->default_value("1"), "threads of a trial")  //
      ("memory", text(),
       "memory for all running trials, e.g. 8G, which none may exceed (default: 90 % of what is "
       "available, by estimate)")  //
      ("retries", text()->default_value("1"),
       "how often a trial that was killed is tried again")                                //
      ("fail-fast", "the first failed trial stops the others, which write a checkpoint")  //
      ("checkpoint", text()->default_value("5m"),
       "when a trial writes a checkpoint: 500 (every 500 steps or passes), 30s, 10m, 2h; 0: only "
       "when interrupted")                                                                //
      ("restart", "begin anew: take up no checkpoint and no training of an earlier run")  //
      ("quiet", "no progress on standard error");
}

SweepOptions sweep_options(const Arguments& arguments) {
  SweepOptions sweep;
  sweep.jobs = arguments.integer("jobs", 1);
  sweep.threads = arguments.integer("threads", 1);
  if (const auto memory = arguments.optional("memory")) sweep.memory = bytes(*memory);
  sweep.retries = arguments.integer("retries", 0);
  sweep.fail_fast = arguments.has("fail-fast");
  sweep.checkpoints = checkpoint_policy(arguments.text("checkpoint"));
  sweep.restart = arguments.has("restart");
  sweep.quiet = arguments.has("quiet");
  return sweep;
}

ExitCode report_sweep(const std::vector<TrialOutcome>& outcomes) {
  using Status = TrialOutcome::Status;
  ExitCode code = ExitCode::success;
  int failed = 0, left = 0;
  for (const auto& outcome : outcomes) {
    if (outcome.status == Status::failed) {
      if (failed++ == 0) code = outcome.code;
    } else if (outcome.status == Status::left) {
      ++left;
    } else {
      fmt::print("{}\n", outcome.path.string());
    }
  }
  if (failed > 0) fmt::print(stderr, "{} of {} trials failed\n", failed, outcomes.size());
  if (left > 0) fmt::print(stderr, "{} are left; the same command goes on\n", left);
  return code;
}

}  // namespace headcount
