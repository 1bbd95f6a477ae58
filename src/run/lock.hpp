#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace headcount {

// Who runs a trial: written into <trial>.lock.
struct LockOwner {
  std::string host;
  std::string boot;       // changes when the host starts anew
  std::string processes;  // the namespace in which `pid` is a process's number
  std::int64_t pid = 0;
  std::int64_t started = 0;  // of the process, in clock ticks since the host's start
  std::string token;         // of this lock alone

  static LockOwner self(const std::string& token);
};

std::string random_token();

// A lock as it is found.
struct LockState {
  LockOwner owner;    // all empty where the file cannot be read as a lock
  std::string stamp;  // another one after each touch
};
std::optional<LockState> read_lock(const std::filesystem::path& path);

// What can be told of an owner at once. An owner on this host whose process is gone, or whose pid
// is another process by now, is gone; of an owner elsewhere only time can tell: see LockWatch.
enum class OwnerState { living, gone, unknown };
OwnerState state_of(const LockOwner& owner);

// Tells by and by which locks of unknown owners are stale: those that nobody has touched for
// kStaleAfter by this process's own steady clock. Times of files are only compared for equality:
// clocks of hosts differ, and are set back.
class LockWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kStaleAfter{60};

  bool is_stale(const std::filesystem::path& path, const LockState& lock, Time now);

 private:
  struct Seen {
    std::string stamp;
    Time since;
  };
  std::map<std::filesystem::path, Seen> seen_;
};

// A trial is run by whoever holds its lock. Taken and given back under a short flock() on .lock in
// the same folder; touched every few seconds by a thread of its own, so that other hosts see its
// owner living even while it works on one thing for long.
class TrialLock {
 public:
  static constexpr std::chrono::seconds kTouchEvery{5};

  // Nothing while another owner holds the lock. A lock is taken over when its owner is gone, or
  // when its stamp is `stale`: a LockWatch said so. Throws Error (cannot_create) where the lock
  // cannot be made.
  static std::optional<TrialLock> take(const std::filesystem::path& path, const std::string& token,
                                       const std::string& stale = "");
  ~TrialLock();  // gives it back
  TrialLock(TrialLock&&) noexcept = default;
  TrialLock& operator=(TrialLock&&) = delete;

 private:
  class Heart;
  TrialLock(std::filesystem::path path, std::string token);

  std::filesystem::path path_;
  std::string token_;
  std::unique_ptr<Heart> heart_;
};

// Removes the lock if it is the one of this token: for the owner, or after its death.
void remove_lock(const std::filesystem::path& path, const std::string& token);

}  // namespace headcount
