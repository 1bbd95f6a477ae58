#include "run/progress.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "train/trainer.hpp"

namespace headcount {
namespace {

using std::chrono::steady_clock;

// Whether `interval` has passed since `last`, which then becomes now.
bool is_due(steady_clock::time_point& last, steady_clock::duration interval) {
  const auto now = steady_clock::now();
  if (last != steady_clock::time_point{} && now - last < interval) return false;
  last = now;
  return true;
}

// Whether a line of a curve is whole and tells of nothing after training step `last`.
bool is_kept(const std::string& line, std::int64_t last) {
  const auto event = parse_json(line);
  if (!event.is_object()) return false;
  const auto step = event.find("step");
  return step == event.end() || (step->is_number_integer() && step->get<std::int64_t>() <= last);
}

}  // namespace

Progress::Progress(std::string label, const std::filesystem::path& jsonl, bool quiet,
                   Watcher watcher)
    : label_(std::move(label)),
      path_(jsonl),
      curve_(::open(jsonl.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)),
      quiet_(quiet),
      watcher_(std::move(watcher)) {
  if (curve_ < 0)
    throw Error(ExitCode::cannot_create,
                fmt::format("cannot write {}: {}", jsonl.string(), std::strerror(errno)));
}

Progress::~Progress() {
  if (curve_ >= 0) ::close(curve_);
}

void Progress::continue_curve(std::int64_t last) {
  std::istringstream before(read_file(path_));
  std::string kept;
  for (std::string line; std::getline(before, line);)
    if (is_kept(line, last)) kept += line + "\n";
  begin_curve(kept);
}

void Progress::record(const StepReport& report) {
  record(Json{{"step", report.step},
              {"loss", report.loss},
              {"learning_rate", report.learning_rate},
              {"gradient_norm", report.gradient_norm}});
}

void Progress::record(const Json& event) {
  event_ = to_text(event);
  if (!begun_) begin_curve("");
  write(event_ + "\n");
}

void Progress::begin_curve(const std::string& content) {
  begun_ = true;
  if (curve_ < 0) return;
  if (::ftruncate(curve_, 0) == 0) write(content);
}

void Progress::write(const std::string& text) {
  for (std::size_t done = 0; curve_ >= 0 && done < text.size();) {
    const ssize_t wrote = ::write(curve_, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      fmt::print(stderr, "{} the curve ends here: cannot write {}: {}\n", label_, path_.string(),
                 std::strerror(errno));
      ::close(curve_);
      curve_ = -1;
      return;
    }
    done += static_cast<std::size_t>(wrote);
  }
}

void Progress::show(const std::string& text, bool always) {
  using namespace std::chrono_literals;
  if (watcher_ && (is_due(watched_, 100ms) || always)) watcher_(text, event_);
  if (quiet_ || !(is_due(shown_, 10s) || always)) return;
  const auto line = fmt::format("{} {}\n", label_, text);
  std::fputs(line.c_str(), stderr);
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
