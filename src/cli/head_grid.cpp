#include "cli/head_grid.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace headcount {

std::vector<std::string> sites_of(const ResultFile& file) {
  return file.exists("/heads") ? file.children("/heads") : std::vector<std::string>{};
}

Table head_grid(const ResultFile& file, const std::string& measure, const std::string& site) {
  std::string name = measure;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '.' || c == '-'; }, '_');
  const std::string path = fmt::format("/heads/{}/{}", site, name);
  if (!file.exists(path)) {
    std::vector<std::string> known;
    if (file.exists("/heads/" + site))
      for (const auto& child : file.children("/heads/" + site))
        if (!child.ends_with("_standard_error") && child != "layer" && child != "head")
          known.push_back(child);
    throw Error(ExitCode::bad_data,
                fmt::format("{} holds no '{}' at {}{} (it holds: {})", file.path().string(),
                            measure, site, did_you_mean(name, known), join(known, ", ")));
  }
  const auto shape = file.shape(path);
  const auto values = file.read<double>(path);
  std::vector<std::string> columns{"layer"};
  for (std::size_t head = 0; head < shape.at(1); ++head)
    columns.push_back(fmt::format("head {}", head));
  Table table(columns);
  for (std::size_t layer = 0; layer < shape.at(0); ++layer) {
    std::vector<Cell> row{static_cast<std::int64_t>(layer)};
    for (std::size_t head = 0; head < shape.at(1); ++head) {
      row.push_back(number(values[layer * shape[1] + head]));
    }
    table.add_row(std::move(row));
  }
  return table;
}

}  // namespace headcount
