#include <fmt/format.h>

#include "cli/command.hpp"
#include "run/config.hpp"
#include "run/schema.hpp"
#include "task/data_source.hpp"
#include "task/make_task.hpp"

namespace headcount {
namespace {

void options(boost::program_options::options_description& options) {
  options.add_options()("set", boost::program_options::value<std::vector<std::string>>(),
                        "KEY=VALUE of a task key; may be given again");
}

ExitCode run(const Arguments& arguments) {
  auto sets = arguments.texts("set");
  sets.insert(sets.begin(), "task.data=" + arguments.text("NAME"));
  TaskConfig named;
  named.set("task.data", arguments.text("NAME"));
  const auto& source = find_data_source(named);
  // What has labels alone can only be classified.
  if (!source.read && !source.generate) sets.insert(sets.begin(), "task.kind=classify");
  const auto experiment =
      parse_experiment("[experiment]\nname = data\n", "data", experiment_schema(),
                       {std::nullopt, sets}, check_settings);
  fmt::print("{}", data_report(task_config(experiment.trials.front().settings)));
  return ExitCode::success;
}

}  // namespace

Command data_command() {
  return {"data",     "fetch or generate a data source; say where it lies and what is in it",
          {{"NAME"}}, "headcount data austen --set task.tokenizer=word",
          options,    run};
}

}  // namespace headcount
