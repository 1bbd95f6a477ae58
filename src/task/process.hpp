#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace headcount {

struct ProcessResult {
  int status = 0;      // what the program returned; 128 + signal when a signal ended it
  std::string output;  // the last 4,000 bytes of what it wrote to stdout and stderr
  bool ok() const { return status == 0; }
};

// Runs a program found on PATH with exactly these arguments (no shell), in `folder`, with empty
// input, and waits for its end. What it writes to stdout goes to the file `output`, which is made
// anew, if one is named. Throws Error (no_input) when it cannot be started.
ProcessResult run_process(const std::vector<std::string>& arguments,
                          const std::filesystem::path& folder,
                          const std::filesystem::path& output = {});

// A new folder that only this user may enter; removed with all it holds at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace headcount
