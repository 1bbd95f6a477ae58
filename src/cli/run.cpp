#include <thread>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "cli/command.hpp"
#include "run/config.hpp"
#include "run/schema.hpp"
#include "run/sweep.hpp"
#include "score/scores.hpp"

namespace headcount {
namespace {

void options(boost::program_options::options_description& options) {
  namespace po = boost::program_options;
  options.add_options()                                                                        //
      ("scale", po::value<std::string>(), "apply the spec's [scale.NAME]")                     //
      ("set", po::value<std::vector<std::string>>(), "KEY=VALUE; may be given again")          //
      ("out", po::value<std::string>(), "folder for results (default: results/<experiment>)")  //
      ("threads", po::value<std::string>()->default_value("1"), "threads of a trial")          //
      ("quiet", "no progress on standard error");
}

ExitCode run(const Arguments& arguments) {
  SweepOptions sweep;
  sweep.threads = arguments.integer("threads", 1);
  sweep.quiet = arguments.has("quiet");
  const auto experiment = load_experiment(
      arguments.text("SPEC"), experiment_schema(),
      {arguments.optional("scale"), arguments.texts("set"), metrics().names()}, check_settings);
  sweep.out = arguments.optional("out").value_or("results/" + experiment.name);
  stop_on_signals();
  const auto outcomes = run_sweep(experiment, sweep);
  ExitCode worst = ExitCode::success;
  int failed = 0;
  for (const auto& outcome : outcomes) {
    if (outcome.status != TrialOutcome::Status::failed) {
      fmt::print("{}\n", outcome.path.string());
      continue;
    }
    ++failed;
    worst = outcome.code;
  }
  if (failed > 0) fmt::print(stderr, "{} of {} trials failed\n", failed, outcomes.size());
  return worst;
}

}  // namespace

Command run_command() {
  return {
      "run",      "train, measure and prune the models of a spec; finished trials are skipped",
      {{"SPEC"}}, "headcount run experiments/head-count.ini --scale small --set train.steps=500",
      options,    run};
}

}  // namespace headcount
