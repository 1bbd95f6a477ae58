#include <fmt/format.h>

#include "analysis/summaries.hpp"
#include "attention/scores/score_function.hpp"
#include "cli/command.hpp"
#include "cli/listing.hpp"
#include "measure/measure.hpp"
#include "model/initialization/scheme.hpp"
#include "model/positions/position_encoding.hpp"
#include "prune/pruning.hpp"
#include "score/scores.hpp"
#include "task/data_source.hpp"
#include "task/make_task.hpp"
#include "task/tokenizer.hpp"

namespace headcount {
namespace {

Table table_with(std::vector<std::string> more = {}) {
  std::vector<std::string> columns{"name", "definition", "source"};
  columns.insert(columns.end(), more.begin(), more.end());
  return Table(columns);
}

template <class Entry>
Table table_of(const Registry<Entry>& registry) {
  auto table = table_with();
  for (const auto& entry : registry.entries())
    table.add_row({entry.about.name, entry.about.definition, entry.about.source});
  return table;
}

template <class Entry>
Table table_with_units(const Registry<Entry>& registry) {
  auto table = table_with({"unit"});
  for (const auto& entry : registry.entries())
    table.add_row({entry.about.name, entry.about.definition, entry.about.source, entry.unit});
  return table;
}

// Of what a task is made, with the spec keys each entry understands.
template <class Entry>
Table table_with_keys(const Registry<Entry>& registry) {
  auto table = table_with({"keys"});
  for (const auto& entry : registry.entries()) {
    std::vector<std::string> keys;
    for (const auto& key : entry.keys) keys.push_back(key.name);
    table.add_row({entry.about.name, entry.about.definition, entry.about.source, join(keys, ", ")});
  }
  return table;
}

ExitCode run(const Arguments& arguments) {
  const auto wanted = arguments.text("KIND");
  std::vector<std::string> names;
  for (const auto& kind : listings()) {
    if (kind.name == wanted) {
      fmt::print("{}", render(kind.table(), arguments.format()));
      return ExitCode::success;
    }
    names.push_back(kind.name);
  }
  throw Error(ExitCode::usage, fmt::format("there is no list of '{}'{} (lists: {})", wanted,
                                           did_you_mean(wanted, names), join(names, ", ")));
}

}  // namespace

const std::vector<Listing>& listings() {
  static const std::vector<Listing> all{
      {"tasks", [] { return table_with_keys(tasks()); }},
      {"data", [] { return table_with_keys(data_sources()); }},
      {"tokenizers", [] { return table_with_keys(tokenizers()); }},
      {"score-functions", [] { return table_of(score_functions()); }},
      {"sharing", [] { return table_of(sharings()); }},
      {"positions", [] { return table_of(position_encodings()); }},
      {"init", [] { return table_of(initialization_schemes()); }},
      {"measures", [] { return table_with_units(measures()); }},
      {"metrics", [] { return table_with_units(metrics()); }},
      {"summaries", [] { return table_with_units(trial_summaries()); }},
      {"prune", [] { return table_of(pruning_methods()); }},
  };
  return all;
}

Command list_command() {
  return {
      "list",
      "what a spec can name: tasks, data, tokenizers, score-functions, sharing, positions, init, "
      "measures, metrics, summaries, prune",
      {{"KIND"}},
      "headcount list measures",
      add_format_option,
      run};
}

}  // namespace headcount
