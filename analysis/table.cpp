#include "analysis/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

namespace headcount {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr std::pair<const char*, TableFormat> kFormats[] = {{"text", TableFormat::text},
                                                            {"csv", TableFormat::csv},
                                                            {"json", TableFormat::json},
                                                            {"markdown", TableFormat::markdown}};

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

bool is_number(const Cell& cell) {
  return std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell);
}

// For reading: five digits, and "-" for nothing.
std::string readable(const Cell& cell) {
  return std::visit(Overloaded{[](std::monostate) { return std::string("-"); },
                               [](const std::string& text) { return text; },
                               [](std::int64_t value) { return fmt::format("{}", value); },
                               [](double value) { return fmt::format("{:.5g}", value); }},
                    cell);
}

// For a program: all digits, and an empty field for nothing.
std::string exact(const Cell& cell) {
  return std::visit(Overloaded{[](std::monostate) { return std::string(); },
                               [](const std::string& text) { return text; },
                               [](std::int64_t value) { return fmt::format("{}", value); },
                               [](double value) { return shortest(value); }},
                    cell);
}

Json as_json(const Cell& cell) {
  return std::visit(Overloaded{[](std::monostate) { return Json(); },
                               [](const auto& value) { return Json(value); }},
                    cell);
}

std::string without_controls(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      safe += fmt::format("\\x{:02x}", byte);
    else
      safe += c;
  }
  return safe;
}

// Code points, which is what a terminal counts for the scripts met here.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

// A column of numbers, possibly with gaps, stands to the right.
bool stands_right(const Table& table, std::size_t column) {
  bool any = false;
  for (const auto& row : table.rows()) {
    if (std::holds_alternative<std::string>(row[column])) return false;
    any = any || is_number(row[column]);
  }
  return any;
}

std::string render_text(const Table& table) {
  Rows lines;
  lines.emplace_back();
  for (const auto& column : table.columns()) lines.back().push_back(without_controls(column));
  for (const auto& row : table.rows()) {
    lines.emplace_back();
    for (const auto& cell : row) lines.back().push_back(without_controls(readable(cell)));
  }
  std::vector<std::string> out(lines.size());
  for (std::size_t column = 0; column < table.columns().size(); ++column) {
    std::size_t widest = 0;
    for (const auto& line : lines) widest = std::max(widest, width(line[column]));
    const bool right = stands_right(table, column);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string padding(widest - width(lines[i][column]), ' ');
      if (column > 0) out[i] += "  ";
      out[i] += right ? padding + lines[i][column] : lines[i][column] + padding;
    }
  }
  std::string text;
  for (auto& line : out) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string csv_field(std::string text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2)
    text.insert(at, 1, '"');
  return '"' + text + '"';
}

std::string render_csv(const Table& table) {
  std::vector<std::string> fields;
  for (const auto& column : table.columns()) fields.push_back(csv_field(column));
  std::string text = join(fields, ",") + '\n';
  for (const auto& row : table.rows()) {
    fields.clear();
    for (const auto& cell : row) fields.push_back(csv_field(exact(cell)));
    text += join(fields, ",") + '\n';
  }
  return text;
}

std::string render_json(const Table& table) {
  auto list = Json::array();
  for (const auto& row : table.rows()) {
    auto object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) object[table.columns()[i]] = as_json(row[i]);
    list.push_back(std::move(object));
  }
  return to_text(list, 2) + '\n';
}

std::string markdown_cell(std::string_view text) {
  std::string safe;
  for (const char c : without_controls(text)) {
    if (std::string_view("\\`*_[]<>|&~#$").find(c) != std::string_view::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

std::string render_markdown(const Table& table) {
  const auto line = [](const std::vector<std::string>& cells) {
    return "| " + join(cells, " | ") + " |\n";
  };
  std::vector<std::string> cells, rule;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    cells.push_back(markdown_cell(table.columns()[i]));
    rule.emplace_back(stands_right(table, i) ? "---:" : "---");
  }
  std::string text = line(cells) + line(rule);
  for (const auto& row : table.rows()) {
    cells.clear();
    for (const auto& cell : row) cells.push_back(markdown_cell(readable(cell)));
    text += line(cells);
  }
  return text;
}

}  // namespace

TableFormat parse_table_format(std::string_view text) {
  std::vector<std::string> names;
  for (const auto& [name, format] : kFormats) {
    if (text == name) return format;
    names.emplace_back(name);
  }
  throw Error(ExitCode::usage, fmt::format("unknown format '{}'{} (known: {})", text,
                                           did_you_mean(text, names), join(names, ", ")));
}

Cell number(double value) {
  if (std::isnan(value)) return {};
  return value;
}

void Table::add_row(std::vector<Cell> row) {
  if (row.size() != columns_.size())
    throw Error(ExitCode::internal, fmt::format("a row of {} cells for a table of {} columns",
                                                row.size(), columns_.size()));
  rows_.push_back(std::move(row));
}

std::string render(const Table& table, TableFormat format) {
  switch (format) {
    case TableFormat::csv:
      return render_csv(table);
    case TableFormat::json:
      return render_json(table);
    case TableFormat::markdown:
      return render_markdown(table);
    case TableFormat::text:
      break;
  }
  return render_text(table);
}

}  // namespace headcount
