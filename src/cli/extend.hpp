#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace headcount {

// What `measure` and `prune` share: the operand's finished trials get the names given by option
// `list` added under `key`, each of the further `keys` that is given ("measure.examples" by
// --examples) replaced, and are run without training. New files are published beside the old ones.
struct ExtendCommand {
  std::string list;  // "measures"
  std::string key;   // "measure.measures"
  std::vector<std::string> keys;
};
ExitCode run_extension(const Arguments& arguments, const ExtendCommand& command);

}  // namespace headcount
