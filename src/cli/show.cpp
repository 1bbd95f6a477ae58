#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/head_grid.hpp"
#include "store/reader.hpp"

namespace headcount {
namespace {

void options(boost::program_options::options_description& options) {
  options.add_options()("json", "everything small as one JSON object");
  add_format_option(options);
}

void print_identity(const ResultFile& file) {
  for (const char* name :
       {"experiment", "question", "source", "trial_id", "model_id", "content_sha256"})
    if (file.has_attribute("/", name))
      if (const auto value = file.attribute_text("/", name); !value.empty())
        fmt::print("{:<16}{}\n", name, value);
}

// Scores of every split: metric, value, unit, split, examples.
Table score_table(const ResultFile& file) {
  Table table({"split", "metric", "value", "unit", "examples"});
  if (!file.exists("/evaluation")) return table;
  for (const auto& split : file.children("/evaluation"))
    for (const auto& name : file.children("/evaluation/" + split)) {
      const auto path = fmt::format("/evaluation/{}/{}", split, name);
      if (!file.has_values(path) || !file.shape(path).empty()) continue;
      table.add_row({split, name, file.read_scalar<double>(path),
                     file.attribute_text(path, "units"), file.attribute_integer(path, "n")});
    }
  return table;
}

// nll at each point of every method's curve; the mean over orders where there are several.
Table pruning_table(const ResultFile& file) {
  std::vector<std::string> columns{"method", "orders",  "heads_left", "nll",
                                   "lowest", "highest", "nll_removed"};
  Table table(columns);
  if (!file.exists("/pruning")) return table;
  for (const auto& method : file.children("/pruning")) {
    const std::string group = "/pruning/" + method;
    const auto left = file.read<std::int64_t>(group + "/heads_left");
    const auto nll = file.read<double>(group + "/nll"),
               removed = file.read<double>(group + "/nll_removed");
    const auto shape = file.shape(group + "/nll");
    for (std::size_t point = 0; point < shape.at(1); ++point) {
      double sum = 0, sum_removed = 0, low = INFINITY, high = -INFINITY;
      for (std::size_t order = 0; order < shape[0]; ++order) {
        const double value = nll[order * shape[1] + point];
        sum += value;
        sum_removed += removed[order * shape[1] + point];
        low = std::min(low, value);
        high = std::max(high, value);
      }
      const double orders = static_cast<double>(shape[0]);
      table.add_row({file.attribute_text(group, "method"), static_cast<std::int64_t>(shape[0]),
                     left.at(point), sum / orders, low, high, number(sum_removed / orders)});
    }
  }
  return table;
}

double middle(std::vector<double> values) {
  const auto half = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

// Time of the smaller models that were built, of the intact one's, by how many heads they have
// left: medians over methods, for the most sequences that all were timed with. "" where none were.
std::string latency_line(const ResultFile& file) {
  const std::string group = "/timing/latency/";
  if (!file.exists(group + "ratio")) return "";
  const auto numbers = [&](const char* name) { return file.read<double>(group + name); };
  const auto left = file.read<std::int64_t>(group + "heads_left"),
             sequences = file.read<std::int64_t>(group + "sequences");
  const auto intact = numbers("intact"), ratio = numbers("ratio"), spread = numbers("ratio_spread"),
             flops = numbers("flops_ratio");
  for (const auto* values : {&intact, &ratio, &spread, &flops})  // no hash covers /timing
    if (left.empty() || values->size() != left.size() * sequences.size()) return "";
  for (std::size_t size = sequences.size(); size-- > 0;) {
    struct Group {
      std::vector<double> ratio, spread, flops;
    };
    std::map<std::int64_t, Group, std::greater<>> groups;
    std::vector<double> whole;
    for (std::size_t built = 0; built < left.size(); ++built) {
      const auto at = built * sequences.size() + size;
      auto& same = groups[left[built]];
      same.ratio.push_back(ratio.at(at));
      same.spread.push_back(spread.at(at));
      same.flops.push_back(flops.at(at));
      whole.push_back(intact.at(at));
    }
    if (std::ranges::any_of(whole, [](double time) { return std::isnan(time); })) continue;
    std::vector<std::string> parts;
    parts.reserve(groups.size());
    for (const auto& [heads, same] : groups)
      parts.push_back(fmt::format("{:.2f} with {} heads left (spread {:.2f}; arithmetic {:.2f})",
                                  middle(same.ratio), heads, middle(same.spread),
                                  middle(same.flops)));
    return fmt::format("latency of smaller models, of the {:.3g} ms intact, {} sequences: {}",
                       1e3 * middle(whole), sequences[size], join(parts, ", "));
  }
  return "";
}

Json json_of(const ResultFile& file) {
  Json all;
  for (const auto& name : file.attributes("/"))
    if (name != "schema") all[name] = file.attribute_text("/", name);
  const auto keys = file.read_texts("/spec/key"), values = file.read_texts("/spec/value");
  for (std::size_t i = 0; i < keys.size(); ++i) all["spec"][keys[i]] = values.at(i);
  all["scores"] = parse_json(render(score_table(file), TableFormat::json));
  all["pruning"] = parse_json(render(pruning_table(file), TableFormat::json));
  return all;
}

ExitCode run(const Arguments& arguments) {
  const std::string path = arguments.text("FILE");
  if (const auto problem = validate(path)) throw Error(ExitCode::bad_data, *problem);
  const ResultFile file(path);
  if (arguments.has("json")) {
    fmt::print("{}\n", to_text(json_of(file), 2));
    return ExitCode::success;
  }
  const auto format = arguments.format();
  if (format == TableFormat::text) print_identity(file);
  fmt::print("\n{}", render(score_table(file), format));
  if (const auto pruning = pruning_table(file); !pruning.rows().empty())
    fmt::print("\n{}", render(pruning, format));
  if (const auto line = latency_line(file); format == TableFormat::text && !line.empty())
    fmt::print("\n{}\n", line);
  for (const auto& site : sites_of(file)) {
    std::vector<std::string> held;
    for (const auto& name : file.children("/heads/" + site))
      if (name != "layer" && name != "head" && !name.ends_with("_standard_error"))
        held.push_back(name);
    if (format == TableFormat::text) fmt::print("\nheads at {}: {}\n", site, join(held, ", "));
  }
  return ExitCode::success;
}

}  // namespace

Command show_command() {
  return {"show",     "what a trial file holds: scores, pruning curves, measures",
          {{"FILE"}}, "headcount show results/quickstart/trial.h5",
          options,    run};
}

}  // namespace headcount
