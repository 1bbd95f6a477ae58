#include "base/interrupt.hpp"
#include "cli/command.hpp"
#include "cli/spec_options.hpp"
#include "cli/sweep_options.hpp"

namespace headcount {
namespace {

void options(boost::program_options::options_description& options) {
  namespace po = boost::program_options;
  add_spec_options(options);
  options.add_options()("out", po::value<std::string>(),
                        "folder for results (default: results/<experiment>)");
  add_sweep_options(options);
}

ExitCode run(const Arguments& arguments) {
  auto sweep = sweep_options(arguments);
  sweep.spec = arguments.text("SPEC");
  const auto experiment = experiment_of(arguments);
  sweep.out = arguments.optional("out").value_or("results/" + experiment.name);
  stop_on_signals();
  return report_sweep(run_sweep(experiment, sweep));
}

}  // namespace

Command run_command() {
  return {"run",
          "train, measure and prune the models of a spec; finished trials are skipped",
          {{"SPEC"}},
          "headcount run experiments/head-count.ini --scale small --jobs 4 --set train.steps=500",
          options,
          run};
}

}  // namespace headcount
