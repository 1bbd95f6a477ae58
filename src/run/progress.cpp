#include "run/progress.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"

namespace headcount {
namespace {

bool is_terminal() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) && !(term && std::string_view(term) == "dumb");
}

}  // namespace

Progress::Progress(std::string label, const std::filesystem::path& jsonl, bool quiet)
    : label_(std::move(label)),
      jsonl_(jsonl, std::ios::trunc),
      quiet_(quiet),
      terminal_(is_terminal()) {
  if (!jsonl_) throw Error(ExitCode::cannot_create, fmt::format("cannot write {}", jsonl.string()));
}

Progress::~Progress() {
  if (line_open_) std::fputs("\n", stderr);
}

void Progress::record(const std::string& json) { jsonl_ << json << std::endl; }

void Progress::show(const std::string& text, bool always) {
  using std::chrono::steady_clock;
  if (quiet_) return;
  const auto now = steady_clock::now();
  const double since = std::chrono::duration<double>(now - last_).count();
  if (!always && since < (terminal_ ? 0.1 : 10.0)) return;
  last_ = now;
  if (terminal_) {
    const auto line = fmt::format("\r\033[K{} {}", label_, text);
    std::fputs(line.c_str(), stderr);
    if (always) std::fputs("\n", stderr);
    line_open_ = !always;
  } else {
    const auto line = fmt::format("{} {}\n", label_, text);
    std::fputs(line.c_str(), stderr);
  }
  std::fflush(stderr);
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace headcount
