#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/head_grid.hpp"

namespace headcount {
namespace {

void options(boost::program_options::options_description& options) {
  namespace po = boost::program_options;
  options.add_options()  //
      ("measure", po::value<std::string>()->required(),
       "which measure, as in `headcount list measures`")  //
      ("site", po::value<std::string>(),
       "encoder_self, decoder_self or cross (default: all there are)");
  add_format_option(options);
}

ExitCode run(const Arguments& arguments) {
  const ResultFile file(arguments.text("FILE"));
  const auto site = arguments.optional("site");
  const auto sites = site ? std::vector<std::string>{*site} : sites_of(file);
  if (sites.empty())
    throw Error(ExitCode::bad_data, fmt::format("{} holds no heads", file.path().string()));
  for (const auto& each : sites) {
    const auto grid = head_grid(file, arguments.text("measure"), each);
    if (sites.size() > 1) fmt::print("{}\n", each);
    fmt::print("{}", render(grid, arguments.format()));
  }
  return ExitCode::success;
}

}  // namespace

Command heads_command() {
  return {"heads",    "a measure as a layer × head grid",
          {{"FILE"}}, "headcount heads results/quickstart/trial.h5 --measure importance.gradient",
          options,    run};
}

}  // namespace headcount
