#include "cli/extend.hpp"

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "cli/sweep_options.hpp"
#include "run/extension.hpp"

namespace headcount {
namespace fs = std::filesystem;

ExitCode run_extension(const Arguments& arguments, const ExtendCommand& command) {
  std::vector<std::string> sets;
  for (const auto& key : command.keys)
    if (const auto value = arguments.optional(key.substr(key.find('.') + 1)))
      sets.push_back(key + "=" + *value);
  const fs::path path = arguments.text("PATH");
  const auto names = arguments.text(command.list);
  if (split(names, ',').empty())
    throw Error(ExitCode::usage, fmt::format("--{} names nothing", command.list));
  std::vector<std::string> problems;
  const auto files = trial_files(path, problems);
  for (const auto& problem : problems) fmt::print(stderr, "left out: {}\n", problem);
  const auto extension = extend(files, command.key, names, sets);
  auto sweep = sweep_options(arguments);
  sweep.out = fs::is_directory(path) ? path : path.parent_path().empty() ? "." : path.parent_path();
  sweep.trained = extension.trained;
  stop_on_signals();
  return report_sweep(run_sweep(extension.experiment, sweep));
}

}  // namespace headcount
