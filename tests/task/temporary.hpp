// Folders, files and environment variables that a test has for itself.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "task/process.hpp"

namespace headcount {

// A file with this content in a folder of its own.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content, const std::string& name = "text.txt")
      : path_(folder_.path() / name) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  std::string path() const { return path_.string(); }

 private:
  TemporaryFolder folder_;
  std::filesystem::path path_;
};

class TemporaryVariable {
 public:
  TemporaryVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~TemporaryVariable() {
    if (before_)
      ::setenv(name_, before_->c_str(), 1);
    else
      ::unsetenv(name_);
  }
  TemporaryVariable(const TemporaryVariable&) = delete;
  TemporaryVariable& operator=(const TemporaryVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace headcount
