#include <fmt/format.h>

#include "analysis/difference.hpp"
#include "analysis/load.hpp"
#include "cli/command.hpp"

namespace headcount {
namespace {

void options(boost::program_options::options_description& options) {
  namespace po = boost::program_options;
  options.add_options()("split", po::value<std::string>(),
                        "validation or test (default: test where a file has it)");
  add_format_option(options);
}

TrialRow load(const std::string& path, const std::optional<std::string>& split) {
  try {
    return load_trial(path, split);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", path, error.what()));
  }
}

ExitCode run(const Arguments& arguments) {
  const auto split = arguments.optional("split");
  const auto a = load(arguments.text("A"), split), b = load(arguments.text("B"), split);
  const auto settings = setting_differences(a, b);
  if (settings.rows().empty())
    fmt::print(stderr, "the specs are equal\n");
  else
    fmt::print("{}\n", render(settings, arguments.format()));
  fmt::print("{}", render(score_differences(a, b), arguments.format()));
  return ExitCode::success;
}

}  // namespace

Command diff_command() {
  return {
      "diff",         "how the specs and scores of two trials differ",
      {{"A"}, {"B"}}, "headcount diff results/x/heads-1_seed-1-*.h5 results/x/heads-8_seed-1-*.h5",
      options,        run};
}

}  // namespace headcount
