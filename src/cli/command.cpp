#include "cli/command.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "run/provenance.hpp"

namespace headcount {
namespace po = boost::program_options;
namespace {

bool takes_all(const Command::Operand& operand) { return operand.name.ends_with("..."); }

std::string key_of(const Command::Operand& operand) {
  return takes_all(operand) ? operand.name.substr(0, operand.name.size() - 3) : operand.name;
}

std::string synopsis(const Command& command) {
  std::string text = "headcount " + command.name;
  for (const auto& operand : command.operands)
    text += operand.required ? " " + operand.name : " [" + operand.name + "]";
  return text + " [options]";
}

Arguments parse(const Command& command, const std::vector<std::string>& words) {
  po::options_description all = options_of(command);
  po::positional_options_description places;
  for (const auto& operand : command.operands) {
    if (takes_all(operand))
      all.add_options()(key_of(operand).c_str(), po::value<std::vector<std::string>>());
    else
      all.add_options()(key_of(operand).c_str(), po::value<std::string>());
    places.add(key_of(operand).c_str(), takes_all(operand) ? -1 : 1);
  }
  using namespace po::command_line_style;
  po::variables_map values;
  try {
    // Without guessing, so that --thread is an error and not --threads.
    po::store(po::command_line_parser(words)
                  .options(all)
                  .positional(places)
                  .style(unix_style & ~allow_guessing)
                  .run(),
              values);
    if (values.count("help") == 0) po::notify(values);  // which misses what is required
  } catch (const po::error& error) {
    throw Error(ExitCode::usage, fmt::format("{}\nusage: {}", error.what(), synopsis(command)));
  }
  for (const auto& operand : command.operands)
    if (operand.required && values.count(key_of(operand)) == 0 && values.count("help") == 0)
      throw Error(ExitCode::usage,
                  fmt::format("{} is missing\nusage: {}", key_of(operand), synopsis(command)));
  return Arguments(std::move(values));
}

std::string overview() {
  std::string text =
      "Experiments on attention heads: train from a spec, mask, prune, measure.\n\n"
      "usage: headcount COMMAND [arguments]\n\n";
  for (const auto& command : commands())
    text += fmt::format("  {:<12}{}\n", command.name, command.summary);
  return text +
         "\nheadcount COMMAND --help tells more of each; headcount help spec, of spec files.\n";
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const auto& command : commands()) names.push_back(command.name);
  return names;
}

ExitCode dispatch(const std::vector<std::string>& words) {
  if (words.empty()) {
    fmt::print(stderr, "{}", overview());
    return ExitCode::usage;
  }
  const auto& name = words.front();
  if (name == "--help" || name == "-h" || (name == "help" && words.size() == 1)) {
    fmt::print("{}", overview());
    return ExitCode::success;
  }
  if (name == "--version") {
    fmt::print("headcount {}\n", build_provenance().version);
    return ExitCode::success;
  }
  const auto found = std::find_if(commands().begin(), commands().end(),
                                  [&](const Command& command) { return command.name == name; });
  if (found == commands().end())
    throw Error(ExitCode::usage,
                fmt::format("there is no command '{}'{}; headcount --help lists them", name,
                            did_you_mean(name, command_names())));
  const auto arguments = parse(*found, {words.begin() + 1, words.end()});
  if (arguments.has("help")) {
    fmt::print("{}", usage(*found));
    return ExitCode::success;
  }
  return found->run(arguments);
}

}  // namespace

std::vector<std::string> Arguments::texts(const std::string& name) const {
  return has(name) ? values_[name].as<std::vector<std::string>>() : std::vector<std::string>{};
}

std::optional<std::string> Arguments::optional(const std::string& name) const {
  return has(name) ? std::optional(text(name)) : std::nullopt;
}

int Arguments::integer(const std::string& name, int least) const {
  const auto value = parse_integer(text(name));
  constexpr int kMost = 1'000'000;
  if (!value || *value < least || *value > kMost)
    throw Error(ExitCode::usage, fmt::format("--{} takes a whole number from {} to {}, not '{}'",
                                             name, least, kMost, text(name)));
  return static_cast<int>(*value);
}

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      run_command(),     plan_command(),  calibrate_command(), status_command(),
      list_command(),    help_command(),  data_command(),      show_command(),
      same_command(),    diff_command(),  heads_command(),     mask_command(),
      measure_command(), prune_command(), compare_command(),   completion_command()};
  return all;
}

po::options_description options_of(const Command& command) {
  po::options_description options("options", 100);
  options.add_options()("help", "show this");
  command.options(options);
  return options;
}

void add_format_option(po::options_description& options) {
  options.add_options()("format", po::value<std::string>()->default_value("text"),
                        "text, csv, json or markdown");
}

void no_options(po::options_description&) {}

std::string usage(const Command& command) {
  std::ostringstream options;
  options << options_of(command);
  return fmt::format("{}\n\nusage: {}\nexample: {}\n\n{}", command.summary, synopsis(command),
                     command.example, options.str());
}

int run_program(const std::vector<std::string>& words) {
  try {
    const auto code = dispatch(words);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw Error(ExitCode::io,
                  fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    return static_cast<int>(code);
  } catch (const Error& error) {
    fmt::print(stderr, "headcount: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "headcount: out of memory\n");
    return static_cast<int>(ExitCode::internal);
  } catch (const std::exception& error) {
    fmt::print(stderr, "headcount: {} (a bug; please report it)\n", error.what());
    return static_cast<int>(ExitCode::internal);
  }
}

}  // namespace headcount
