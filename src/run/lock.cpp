#include "run/lock.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "run/provenance.hpp"
#include "run/trial_files.hpp"

namespace headcount {
namespace fs = std::filesystem;
namespace {

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string boot_id() { return first_line("/proc/sys/kernel/random/boot_id"); }

std::string process_namespace() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/ns/pid", ignored).string();
}

// Holds .lock of a folder for as long as it lives, where the file system can do that.
class FolderGuard {
 public:
  explicit FolderGuard(const fs::path& folder)
      : fd_(::open((folder / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    while (fd_ >= 0 && ::flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FolderGuard() {
    if (fd_ >= 0) ::close(fd_);
  }
  FolderGuard(const FolderGuard&) = delete;
  FolderGuard& operator=(const FolderGuard&) = delete;

 private:
  int fd_;
};

std::string to_json(const LockOwner& owner) {
  return to_text({{"host", owner.host},
                  {"boot", owner.boot},
                  {"processes", owner.processes},
                  {"pid", owner.pid},
                  {"started", owner.started},
                  {"token", owner.token}});
}

LockOwner from_json(const std::string& text) {
  try {
    const auto json = parse_json(text);
    return {json.at("host").get<std::string>(),      json.at("boot").get<std::string>(),
            json.at("processes").get<std::string>(), json.at("pid").get<std::int64_t>(),
            json.at("started").get<std::int64_t>(),  json.at("token").get<std::string>()};
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

// False where the file is there.
bool create(const fs::path& path, const std::string& text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0 && errno == EEXIST) return false;
  const bool ok =
      fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int problem = errno;
  if (fd >= 0) ::close(fd);
  if (ok) return true;
  if (fd >= 0) ::unlink(path.c_str());
  throw Error(ExitCode::cannot_create,
              fmt::format("cannot make the lock {}: {}", path.string(), std::strerror(problem)));
}

}  // namespace

LockOwner LockOwner::self(const std::string& token) {
  const auto pid = static_cast<std::int64_t>(::getpid());
  return {host_name(), boot_id(), process_namespace(), pid, process_start(pid).value_or(0), token};
}

std::string random_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

std::optional<LockState> read_lock(const fs::path& path) {
  constexpr std::streamsize kLongest = 4096;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(kLongest, '\0');
  file.read(text.data(), kLongest);
  text.resize(static_cast<std::size_t>(file.gcount()));
  auto owner = from_json(text);
  return LockState{owner, owner.token + " " + file_stamp(path)};
}

OwnerState state_of(const LockOwner& owner) {
  if (owner.host.empty() || owner.host != host_name()) return OwnerState::unknown;
  if (owner.boot != boot_id()) return OwnerState::gone;
  if (owner.processes != process_namespace()) return OwnerState::unknown;
  return process_start(owner.pid) == owner.started ? OwnerState::living : OwnerState::gone;
}

bool LockWatch::is_stale(const fs::path& path, const LockState& lock, Time now) {
  auto& seen = seen_[path];
  if (seen.stamp != lock.stamp) seen = {lock.stamp, now};
  switch (state_of(lock.owner)) {
    case OwnerState::living:
      return false;
    case OwnerState::gone:
      return true;
    case OwnerState::unknown:
      break;
  }
  return now - seen.since >= kStaleAfter;
}

// Touches the lock until it is destroyed.
class TrialLock::Heart {
 public:
  explicit Heart(const fs::path& path) : thread_([this, path] { beat(path); }) {}
  ~Heart() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Heart(const Heart&) = delete;
  Heart& operator=(const Heart&) = delete;

 private:
  void beat(const fs::path& path) {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kTouchEvery, [this] { return ending_; }))
      ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // a lock that is gone stays gone
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::thread thread_;
};

TrialLock::TrialLock(fs::path path, std::string token)
    : path_(std::move(path)), token_(std::move(token)), heart_(std::make_unique<Heart>(path_)) {}

std::optional<TrialLock> TrialLock::take(const fs::path& path, const std::string& token,
                                         const std::string& stale) {
  const FolderGuard guard(path.parent_path());
  if (const auto found = read_lock(path)) {
    const auto state = state_of(found->owner);
    const bool is_over = state == OwnerState::gone ||
                         (state == OwnerState::unknown && !stale.empty() && found->stamp == stale);
    if (!is_over) return std::nullopt;
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
      throw Error(ExitCode::cannot_create, fmt::format("cannot take over the lock {}: {}",
                                                       path.string(), std::strerror(errno)));
  }
  if (!create(path, to_json(LockOwner::self(token)))) return std::nullopt;
  return TrialLock(path, token);
}

TrialLock::~TrialLock() {
  if (!heart_) return;  // moved from
  heart_.reset();
  remove_lock(path_, token_);
}

void remove_lock(const fs::path& path, const std::string& token) {
  const FolderGuard guard(path.parent_path());
  if (const auto found = read_lock(path); found && found->owner.token == token)
    ::unlink(path.c_str());
}

}  // namespace headcount
