// The program as a user meets it: words in, output and exit code out.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.hpp"

struct Ran {
  int code = 0;
  std::string out, err;
};

// A folder of its own, in which commands run.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "headcount-cli-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  // `environment`: "NAME=VALUE NAME=VALUE".
  Ran headcount(const std::string& words, const std::string& environment = "") const {
    const auto out = path_ / "stdout", err = path_ / "stderr";
    const int status =
        std::system(fmt::format("cd {} && env {} {} {} > {} 2> {}", path_.string(), environment,
                                HEADCOUNT_BINARY, words, out.string(), err.string())
                        .c_str());
    return {WEXITSTATUS(status), headcount::read_file(out), headcount::read_file(err)};
  }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};
