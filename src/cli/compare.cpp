#include "analysis/compare.hpp"

#include <fmt/format.h>

#include "analysis/load.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"

namespace headcount {
namespace {

void options(boost::program_options::options_description& options) {
  namespace po = boost::program_options;
  options.add_options()  //
      ("by", po::value<std::string>()->required(),
       "spec keys whose values make the groups: KEY[,KEY]")                          //
      ("metric", po::value<std::string>()->default_value("nll"), "metrics: M[,M]")   //
      ("baseline", po::value<std::string>(), "group to compare with, pair by pair")  //
      ("split", po::value<std::string>(), "validation or test (default: test where there is one)");
  add_format_option(options);
}

ExitCode run(const Arguments& arguments) {
  CompareOptions what;
  what.by = split(arguments.text("by"), ',');
  what.metrics = split(arguments.text("metric"), ',');
  what.baseline = arguments.optional("baseline");
  const auto comparison = compare_folder(arguments.text("DIR"), what, arguments.optional("split"));
  fmt::print("{}", render(to_table(comparison), arguments.format()));
  for (const auto& remark : remarks(comparison)) fmt::print(stderr, "{}\n", remark);
  return ExitCode::success;
}

}  // namespace

Command compare_command() {
  return {
      "compare", "means, 95 % t intervals and paired differences over the trials of a folder",
      {{"DIR"}}, "headcount compare results/head-count --by model.heads --metric nll --baseline 8",
      options,   run};
}

}  // namespace headcount
