#include "run/display.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace headcount {
namespace {

using namespace std::chrono_literals;

constexpr auto kRedraw = 100ms;
constexpr auto kTell = 10s;

struct Screen {
  std::size_t columns = 80, rows = 24;
};

Screen screen_of(std::FILE* out) {
  winsize size{};
  if (::ioctl(::fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    return {};
  return {size.ws_col, size.ws_row};
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }
bool is_control(char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7F; }

}  // namespace

std::string fit(const std::string& text, std::size_t width) {
  std::string line;
  std::size_t characters = 0;
  for (const char byte : text) {
    if (!is_continuation(byte) && ++characters > width) {
      while (!line.empty() && is_continuation(line.back())) line.pop_back();
      if (!line.empty()) line.pop_back();
      return width == 0 ? "" : line + "…";
    }
    line += is_control(byte) ? ' ' : byte;
  }
  return line;
}

SweepDisplay::Style SweepDisplay::style_of_stderr(bool quiet) {
  const char* term = std::getenv("TERM");
  if (quiet) return Style::silent;
  const bool can_draw = ::isatty(STDERR_FILENO) && !(term && std::string_view(term) == "dumb");
  return can_draw ? Style::table : Style::lines;
}

std::chrono::milliseconds SweepDisplay::interval() const {
  return style_ == Style::table ? std::chrono::milliseconds(kRedraw) : 1000ms;
}

void SweepDisplay::say(const std::string& line) {
  if (style_ != Style::silent) warn(line);
}

void SweepDisplay::warn(const std::string& line) {
  clear();
  fmt::print(out_, "{}\n", line);
  std::fflush(out_);
  drawn_at_ = {};
}

bool SweepDisplay::is_due(Time now) const {
  if (style_ == Style::table) return drawn_at_ == Time{} || now - drawn_at_ >= kRedraw;
  return style_ == Style::lines;
}

void SweepDisplay::show(const std::vector<Row>& rows, const std::string& summary, Time now) {
  if (!is_due(now)) return;
  if (style_ == Style::table) {
    draw(rows, summary);
    drawn_at_ = now;
  } else {
    for (const auto& [name, text] : rows) {
      auto& told = told_.try_emplace(name, now).first->second;
      if (now - told < kTell) continue;
      told = now;
      fmt::print(out_, "{}  {}\n", name, text);
      std::fflush(out_);
    }
  }
}

void SweepDisplay::draw(const std::vector<Row>& rows, const std::string& summary) {
  const Screen screen = screen_of(out_);
  std::size_t widest = 0;
  for (const auto& row : rows) widest = std::max(widest, row.name.size());
  std::vector<std::string> lines;
  lines.reserve(rows.size() + 1);
  for (const auto& row : rows)
    lines.push_back(fmt::format("{:<{}}  {}", row.name, widest, row.text));
  const std::size_t most = screen.rows > 2 ? screen.rows - 2 : 1;
  if (lines.size() > most) {  // what does not fit would scroll away
    const auto hidden = lines.size() - most + 1;
    lines.resize(most - 1);
    lines.push_back(fmt::format("... and {} more", hidden));
  }
  lines.push_back(summary);

  std::string text = drawn_ > 0 ? fmt::format("\033[{}A", drawn_) : "";
  for (const auto& line : lines) text += "\r\033[K" + fit(line, screen.columns - 1) + "\n";
  text += "\033[J";
  std::fwrite(text.data(), 1, text.size(), out_);
  std::fflush(out_);
  drawn_ = static_cast<int>(lines.size());
}

void SweepDisplay::clear() {
  if (drawn_ == 0) return;
  fmt::print(out_, "\033[{}A\r\033[J", drawn_);
  std::fflush(out_);
  drawn_ = 0;
}

}  // namespace headcount
