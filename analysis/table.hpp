#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headcount {

enum class TableFormat { text, csv, json, markdown };
TableFormat parse_table_format(std::string_view text);  // throws Error (usage), naming the formats

// Nothing, text, a count or a real number. NaN and infinities print as nothing in JSON.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double>;

// A real number, or nothing for NaN.
Cell number(double value);

// What every command prints a table with.
class Table {
 public:
  explicit Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  void add_row(std::vector<Cell> row);  // one cell a column, or Error (internal)

  const std::vector<std::string>& columns() const { return columns_; }
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// text: aligned, numbers with five significant digits and to the right, control characters escaped.
// csv: quoted after RFC 4180, lines end in \n. json: a list of objects, keys in column order.
// markdown: a pipe table with all markup in cells escaped. csv and json give all digits.
std::string render(const Table& table, TableFormat format);

}  // namespace headcount
