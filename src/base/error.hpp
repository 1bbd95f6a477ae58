#pragma once

#include <stdexcept>
#include <string>

namespace headcount {

// What the program returns to its caller, after sysexits.h.
enum class ExitCode {
  success = 0,
  usage = 64,          // the command line is wrong
  bad_data = 65,       // a spec, corpus or result file is wrong
  no_input = 66,       // a file is missing
  internal = 70,       // a bug of ours
  cannot_create = 73,  // an output file cannot be made
  io = 74,             // reading or writing failed
  try_again = 75,      // interrupted; the same command goes on
};

// An error meant for a person: what is wrong, where, the value, what to do about it.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace headcount
