#include "cli/extend.hpp"

#include "base/interrupt.hpp"
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
  const auto extension = extend(trial_files(path), command.key, arguments.text(command.list), sets);
  auto sweep = sweep_options(arguments);
  sweep.out = fs::is_directory(path) ? path : path.parent_path().empty() ? "." : path.parent_path();
  sweep.trained = extension.trained;
  stop_on_signals();
  return report_sweep(run_sweep(extension.experiment, sweep));
}

}  // namespace headcount
