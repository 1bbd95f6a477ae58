#pragma once

#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace headcount {

// How a sweep looks while it runs. On a terminal: a table that is redrawn in place, one line for
// each running trial and one for the whole. Elsewhere: a line for each trial every ten seconds.
class SweepDisplay {
 public:
  enum class Style { silent, lines, table };
  using Time = std::chrono::steady_clock::time_point;

  struct Row {
    std::string name, text;
  };

  // `out` is not closed.
  SweepDisplay(Style style, std::FILE* out) : style_(style), out_(out) {}
  ~SweepDisplay() { clear(); }
  SweepDisplay(const SweepDisplay&) = delete;
  SweepDisplay& operator=(const SweepDisplay&) = delete;

  // A line that stays. Shown in every style but silent.
  void say(const std::string& line);
  // A line that stays and is shown in every style: something went wrong.
  void warn(const std::string& line);

  // Whether show() would show anything: at most ten times a second on a terminal.
  bool is_due(Time now) const;

  // Draws what runs now; elsewhere than on a terminal, tells of each name every ten seconds.
  void show(const std::vector<Row>& rows, const std::string& summary, Time now);

  // How long after a change show() may be called next.
  std::chrono::milliseconds interval() const;

  // For standard error: a table on a terminal that can draw one.
  static Style style_of_stderr(bool quiet);

 private:
  void clear();
  void draw(const std::vector<Row>& rows, const std::string& summary);

  Style style_;
  std::FILE* out_;
  int drawn_ = 0;  // lines of the table on the screen
  Time drawn_at_{};
  std::map<std::string, Time> told_;  // by name
};

// `text` in at most `width` characters on a screen, none of them a control character; cut with "…".
std::string fit(const std::string& text, std::size_t width);

}  // namespace headcount
