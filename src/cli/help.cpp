#include "spec/help.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "run/schema.hpp"

namespace headcount {
namespace {

void options(boost::program_options::options_description& options) {
  options.add_options()("format",
                        boost::program_options::value<std::string>()->default_value("text"),
                        "text or markdown");
}

ExitCode run(const Arguments& arguments) {
  const auto topic = arguments.text("TOPIC"), format = arguments.text("format");
  if (format != "text" && format != "markdown")
    throw Error(ExitCode::usage, fmt::format("--format takes text or markdown, not '{}'", format));
  if (topic == "spec") {
    fmt::print("{}", help_text(experiment_schema(),
                               format == "text" ? HelpFormat::text : HelpFormat::markdown));
    return ExitCode::success;
  }
  for (const auto& command : commands())
    if (command.name == topic) {
      fmt::print("{}", usage(command));
      return ExitCode::success;
    }
  throw Error(
      ExitCode::usage,
      fmt::format("there is no help on '{}'; try 'headcount help spec' or the name of a command",
                  topic));
}

}  // namespace

Command help_command() {
  return {"help",      "every key of a spec (help spec), or a command",
          {{"TOPIC"}}, "headcount help spec",
          options,     run};
}

}  // namespace headcount
