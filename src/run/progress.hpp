#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace headcount {

// What a running trial tells: one line on standard error that is rewritten on a terminal, and lines
// every few seconds otherwise; and every event, line by line, in <trial>.jsonl for `tail -f` and
// plotting.
class Progress {
 public:
  // `label` stands before every line: "[2/15] heads-4_seed-2". `quiet` silences standard error
  // only. Throws Error (cannot_create) where the jsonl cannot be written.
  Progress(std::string label, const std::filesystem::path& jsonl, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // One JSON object, without the newline.
  void record(const std::string& json);
  // `always` shows a line that is not to be skipped.
  void show(const std::string& text, bool always = false);

 private:
  std::string label_;
  std::ofstream jsonl_;
  bool quiet_;
  bool terminal_;
  bool line_open_ = false;
  std::chrono::steady_clock::time_point last_{};
};

// "1:05" or "2:03:04".
std::string clock_text(double seconds);

// "2026-11-30T07:00:00Z"
std::string utc_now();

}  // namespace headcount
