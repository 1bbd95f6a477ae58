#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/command.hpp"

namespace headcount {
namespace {

std::string words_of(const Command& command) {
  std::vector<std::string> words;
  const auto options = options_of(command);
  for (const auto& option : options.options()) words.push_back("--" + option->long_name());
  return join(words, " ");
}

ExitCode run(const Arguments& arguments) {
  if (arguments.text("SHELL") != "bash")
    throw Error(ExitCode::usage,
                fmt::format("completion is there for bash, not for '{}'", arguments.text("SHELL")));
  std::vector<std::string> names;
  std::string cases;
  for (const auto& command : commands()) {
    names.push_back(command.name);
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command.name, words_of(command));
  }
  fmt::print(R"(# headcount completion bash > /etc/bash_completion.d/headcount
_headcount() {{
  local words word="${{COMP_WORDS[COMP_CWORD]}}"
  case "${{COMP_WORDS[1]}}" in
{}    *) words="" ;;
  esac
  [ "$COMP_CWORD" = 1 ] && words="{}"
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  case "$word" in -*) ;; *) [ "$COMP_CWORD" = 1 ] || COMPREPLY+=($(compgen -f -- "$word")) ;; esac
}}
complete -o filenames -F _headcount headcount
)",
             cases, join(names, " "));
  return ExitCode::success;
}

}  // namespace

Command completion_command() {
  return {"completion",
          "a completion script for bash",
          {{"SHELL"}},
          "headcount completion bash > ~/.local/share/bash-completion/completions/headcount",
          no_options,
          run};
}

}  // namespace headcount
