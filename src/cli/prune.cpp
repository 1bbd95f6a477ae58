#include "cli/extend.hpp"
#include "cli/sweep_options.hpp"

namespace headcount {
namespace {

void options(boost::program_options::options_description& options) {
  namespace po = boost::program_options;
  options.add_options()  //
      ("methods", po::value<std::string>()->required(),
       "orders of removal to add, with commas (headcount list prune)")              //
      ("examples", po::value<std::string>(), "most examples scored; 0: all")        //
      ("step", po::value<std::string>(), "share of the heads from point to point")  //
      ("orders", po::value<std::string>(), "orders that a random method draws");
  add_sweep_options(options);
}

ExitCode run(const Arguments& arguments) {
  return run_extension(
      arguments, {"methods", "prune.methods", {"prune.examples", "prune.step", "prune.orders"}});
}

}  // namespace

Command prune_command() {
  return {
      "prune",    "prunes finished trials further, without training; new files beside the old ones",
      {{"PATH"}}, "headcount prune results/head-count --methods importance.ablation --jobs 2",
      options,    run};
}

}  // namespace headcount
