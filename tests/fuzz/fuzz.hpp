// What all fuzz targets share. Each is one file, <name>_fuzz.cpp, with libFuzzer's entry point
// LLVMFuzzerTestOneInput; replay.cpp runs the same over files, under any compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace headcount::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Takes choices from the front of an input; zeros when it has come to its end.
class Choices {
 public:
  explicit Choices(std::string_view input) : rest_(input) {}

  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  std::size_t below(std::size_t count) { return byte() % count; }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// A law that an input broke.
[[noreturn]] inline void broken(const std::string& law) {
  std::fprintf(stderr, "broken law: %s\n", law.c_str());
  std::abort();
}

inline void require(bool holds, const char* law) {
  if (!holds) broken(law);
}

// Runs `read`. An Error is an answer to a hostile input, unless it says that the bug is ours; any
// other exception ends the run. Whether `read` came to its end.
inline bool answers(const std::function<void()>& read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    if (error.code() == ExitCode::internal) broken(error.what());
    return false;
  }
}

// A file for readers that want a path; in TMPDIR, which is best kept in memory.
class ScratchFile {
 public:
  ScratchFile();
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  void write(std::string_view bytes) const;  // in place of what it held
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace headcount::fuzz
