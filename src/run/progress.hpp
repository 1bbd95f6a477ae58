#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/json.hpp"

namespace headcount {

struct StepReport;

// What a running trial tells: every event, line by line, in <trial>.jsonl (its curve) for `tail -f`
// and plotting; lines for people on standard error, which is the trial's log; and both to whoever
// watches.
class Progress {
 public:
  // Called with the last text shown and the last event recorded ("" for none), at most ten times a
  // second, and for every text that is shown always.
  using Watcher = std::function<void(const std::string& text, const std::string& event)>;

  // `label` stands before every line on standard error; `quiet` silences them. Throws Error
  // (cannot_create) where the curve cannot be written.
  Progress(std::string label, const std::filesystem::path& jsonl, bool quiet, Watcher watcher = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The trial goes on after training step `last`: events of later steps, told before an
  // interruption, are taken out of the curve. Without this call the first event begins a new curve.
  void continue_curve(std::int64_t last);

  // One line; in the file when this returns. A curve that cannot be written any more is no reason
  // to lose the trial: it ends there.
  void record(const Json& event);
  void record(const StepReport& report);  // of a training step
  // `always` shows a line that is not to be skipped; others are shown every ten seconds.
  void show(const std::string& text, bool always = false);

 private:
  void write(const std::string& text);
  void begin_curve(const std::string& content);

  std::string label_;
  std::filesystem::path path_;
  int curve_ = -1;
  bool begun_ = false;
  bool quiet_;
  Watcher watcher_;
  std::string event_;
  std::chrono::steady_clock::time_point shown_{}, watched_{};
};

// "1:05" or "2:03:04".
std::string clock_text(double seconds);

// "2026-11-30T07:00:00Z"
std::string utc_now();

}  // namespace headcount
