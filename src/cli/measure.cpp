#include "cli/extend.hpp"
#include "cli/sweep_options.hpp"

namespace headcount {
namespace {

void options(boost::program_options::options_description& options) {
  namespace po = boost::program_options;
  options.add_options()  //
      ("measures", po::value<std::string>()->required(),
       "per-head measures to add, with commas (headcount list measures)")       //
      ("examples", po::value<std::string>(), "most examples measured; 0: all")  //
      ("split", po::value<std::string>(), "validation or test")                 //
      ("patterns", po::value<std::string>(), "sequences whose patterns are stored");
  add_sweep_options(options);
}

ExitCode run(const Arguments& arguments) {
  return run_extension(
      arguments,
      {"measures", "measure.measures", {"measure.examples", "measure.split", "measure.patterns"}});
}

}  // namespace

Command measure_command() {
  return {"measure",
          "measures finished trials further, without training; new files beside the old ones",
          {{"PATH"}},
          "headcount measure results/head-count --measures distance,confidence --jobs 2",
          options,
          run};
}

}  // namespace headcount
