#pragma once

#include <optional>
#include <string>
#include <vector>

#include <boost/program_options.hpp>

#include "analysis/table.hpp"
#include "base/error.hpp"

namespace headcount {

// The words behind a command's name, checked against what it takes.
class Arguments {
 public:
  explicit Arguments(boost::program_options::variables_map values) : values_(std::move(values)) {}

  bool has(const std::string& name) const { return values_.count(name) > 0; }
  std::string text(const std::string& name) const { return values_[name].as<std::string>(); }
  std::vector<std::string> texts(const std::string& name) const;  // empty where it is not given
  std::optional<std::string> optional(const std::string& name) const;
  // Throws Error (usage) unless it is a whole number of at least `least`.
  int integer(const std::string& name, int least) const;
  TableFormat format() const { return parse_table_format(text("format")); }

 private:
  boost::program_options::variables_map values_;
};

// One command of the program.
struct Command {
  struct Operand {
    std::string name;  // "SPEC"; "FILE..." takes all that are left
    bool required = true;
  };
  std::string name;
  std::string summary;  // one line
  std::vector<Operand> operands;
  std::string example;
  void (*options)(boost::program_options::options_description&);
  ExitCode (*run)(const Arguments&);
};

// All commands, in the order of `headcount --help`; one file each.
const std::vector<Command>& commands();

Command run_command();
Command plan_command();
Command calibrate_command();
Command status_command();
Command list_command();
Command help_command();
Command data_command();
Command show_command();
Command same_command();
Command diff_command();
Command heads_command();
Command mask_command();
Command measure_command();
Command prune_command();
Command compare_command();
Command completion_command();

// The options of a command as --help shows them.
boost::program_options::options_description options_of(const Command& command);

// Adds --format text|csv|json|markdown.
void add_format_option(boost::program_options::options_description& options);

void no_options(boost::program_options::options_description& options);

// What `headcount NAME --help` prints.
std::string usage(const Command& command);

// Runs the program: argv[1] names the command. Results go to standard output, everything else to
// standard error.
int run_program(const std::vector<std::string>& words);

}  // namespace headcount
