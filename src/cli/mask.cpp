#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "cli/command.hpp"
#include "run/stored_trial.hpp"
#include "run/trial.hpp"

namespace headcount {
namespace {

void options(boost::program_options::options_description& options) {
  namespace po = boost::program_options;
  options.add_options()  //
      ("heads", po::value<std::string>()->required(),
       "SITE:LAYER:HEAD, * for all; several with commas")                                         //
      ("kind", po::value<std::string>()->default_value("zero"), "zero, mean or uniform")          //
      ("split", po::value<std::string>()->default_value("test"), "validation or test")            //
      ("examples", po::value<std::string>()->default_value("0"), "most examples scored; 0: all")  //
      ("threads", po::value<std::string>()->default_value("1"), "threads");
  add_format_option(options);
}

ExitCode run(const Arguments& arguments) {
  stop_on_signals();
  const StoredTrial trial(arguments.text("FILE"));
  ThreadTeam team(arguments.integer("threads", 1));
  const auto heads = select_heads(arguments.text("heads"), trial.model().heads());
  if (heads.empty()) throw Error(ExitCode::usage, "--heads names no head");
  const auto kind = parse_mask_kind(arguments.text("kind"));
  const Evaluator<float> scored(trial.model(), trial.parameters(), trial.task(),
                                parse_split(arguments.text("split")),
                                arguments.integer("examples", 0), team);
  const auto intact = total(scored.run(HeadTreatment<float>::intact(trial.model().heads())));
  const auto masked =
      total(scored.run(treatment_for(trial.model(), trial.parameters(), trial.task(), heads, kind,
                                     trial.settings().integer("measure.examples"), team)));
  Table table({"metric", "unit", "intact", "masked", "difference"});
  for (const auto& name : trial.task().metrics()) {
    const double before = score(name, intact), after = score(name, masked);
    table.add_row({name, metrics().at(name).unit, before, after, after - before});
  }
  fmt::print("{}", render(table, arguments.format()));
  fmt::print(stderr, "{} heads masked ({}), {} split, {} examples\n", heads.size(), name_of(kind),
             arguments.text("split"), scored.examples());
  return ExitCode::success;
}

}  // namespace

Command mask_command() {
  return {
      "mask",     "loss and scores of a stored model with heads masked, against intact",
      {{"FILE"}}, "headcount mask results/quickstart/trial.h5 --heads decoder_self:0:1 --kind zero",
      options,    run};
}

}  // namespace headcount
