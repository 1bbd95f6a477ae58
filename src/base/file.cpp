#include "base/file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

namespace headcount {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(ExitCode code, const std::string& what, const fs::path& path) {
  throw Error(code, fmt::format("{} {}: {}", what, path.string(), std::strerror(errno)));
}

class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  bool ok() const { return fd_ >= 0; }
  bool sync() const { return ::fsync(fd_) == 0; }

 private:
  int fd_;
};

void sync_path(const fs::path& path) {
  const Descriptor file(path, O_RDONLY);
  if (!file.ok() || !file.sync()) fail(ExitCode::io, "cannot write to disk", path);
}

class TemporaryFile {
 public:
  explicit TemporaryFile(fs::path path) : path_(std::move(path)) {}
  ~TemporaryFile() {  // after a rename there is nothing left to remove
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// A new file that nobody else has, named after this host and process; a killed process may have
// left one of that name.
fs::path reserve_beside(const fs::path& path, const fs::path& folder) {
  for (int attempt = 0;; ++attempt) {
    const fs::path name = folder / fmt::format("{}.{}.{}.{}.part", path.filename().string(),
                                               host_name(), ::getpid(), attempt);
    const Descriptor file(name, O_CREAT | O_EXCL | O_WRONLY);
    if (file.ok()) return name;
    if (errno != EEXIST || attempt == 99) fail(ExitCode::cannot_create, "cannot create", name);
  }
}

// Whether the process that reserved a file of this name ran on this host and has ended.
bool is_abandoned(const fs::path& path) {
  auto rest = path;
  const auto take = [&] {
    const auto word = rest.extension().string();
    rest.replace_extension();
    return word;
  };
  if (take() != ".part") return false;
  const auto attempt = take(), process = take();
  const auto pid = parse_integer(std::string_view(process).substr(process.empty() ? 0 : 1));
  return !attempt.empty() && pid && *pid > 0 &&
         rest.string().ends_with(fmt::format(".{}", host_name())) && !process_start(*pid);
}

}  // namespace

std::string read_file(const fs::path& path, std::size_t limit) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status))
    throw Error(ExitCode::no_input, fmt::format("no such file: {}", path.string()));
  if (!fs::is_regular_file(status))
    throw Error(ExitCode::no_input, fmt::format("not a regular file: {}", path.string()));
  const auto size = fs::file_size(path, error);
  if (error) fail(ExitCode::io, "cannot read", path);
  if (size > limit)
    throw Error(ExitCode::bad_data, fmt::format("{} has {} bytes, more than the {} that are read",
                                                path.string(), size, limit));
  std::string text(size, '\0');
  std::ifstream stream(path, std::ios::binary);
  stream.read(text.data(), static_cast<std::streamsize>(size));
  if (!stream) fail(ExitCode::io, "cannot read", path);
  return text;
}

void publish_file(const fs::path& path, const std::function<void(const fs::path&)>& write) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const TemporaryFile temporary(reserve_beside(path, folder));
  write(temporary.path());
  sync_path(temporary.path());
  if (::rename(temporary.path().c_str(), path.c_str()) != 0)
    fail(ExitCode::cannot_create, "cannot rename to", path);
  sync_path(folder);
}

void publish_text(const fs::path& path, const std::string& text) {
  publish_file(path, [&](const fs::path& temporary) {
    std::ofstream file(temporary, std::ios::binary);
    file << text;
    file.close();
    if (!file) fail(ExitCode::io, "cannot write", temporary);
  });
}

std::size_t remove_abandoned(const fs::path& folder) {
  std::vector<fs::path> abandoned;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error))
    if (is_abandoned(entry->path())) abandoned.push_back(entry->path());
  std::size_t gone = 0;
  for (const auto& path : abandoned) gone += fs::remove(path, error) ? 1 : 0;
  return gone;
}

fs::path cache_directory() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (const auto own = variable("HEADCOUNT_CACHE"); !own.empty()) return own;
  if (const auto xdg = variable("XDG_CACHE_HOME"); !xdg.empty()) return fs::path(xdg) / "headcount";
  if (const auto home = variable("HOME"); !home.empty()) return fs::path(home) / ".cache/headcount";
  return fs::temp_directory_path() / "headcount-cache";
}

}  // namespace headcount
