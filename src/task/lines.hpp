#pragma once

#include <cstdint>
#include <string_view>

namespace headcount {

// The lines of a text, one after the other, without their ends ("\n" or "\r\n").
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  // Moves to the next line; false at the end of the text.
  bool next() {
    if (rest_.empty()) return false;
    const auto end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    ++number_;
    return true;
  }
  std::string_view line() const { return line_; }
  std::int64_t number() const { return number_; }  // from 1

 private:
  std::string_view rest_, line_;
  std::int64_t number_ = 0;
};

}  // namespace headcount
