#include "store/same.hpp"

#include <fmt/format.h>

#include "cli/command.hpp"

namespace headcount {
namespace {

ExitCode run(const Arguments& arguments) {
  const auto differences = same(arguments.text("A"), arguments.text("B"));
  if (differences.empty()) {
    fmt::print(
        "same: every object, type, shape, attribute and byte outside /timing and /provenance\n");
    return ExitCode::success;
  }
  for (const auto& difference : differences)
    fmt::print("{}: {}\n", difference.path, difference.what);
  return static_cast<ExitCode>(1);
}

}  // namespace

Command same_command() {
  return {"same",         "whether two trial files hold the same; exits 1 where they differ",
          {{"A"}, {"B"}}, "headcount same run-1/trial.h5 run-2/trial.h5",
          no_options,     run};
}

}  // namespace headcount
