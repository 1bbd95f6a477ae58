// Loaded before the C library (LD_PRELOAD) into a program under test: makes the system fail as
// asked in the environment.
//
//   HEADCOUNT_FAULT=full:SUBSTRING      writing a file whose path holds SUBSTRING: disk full
//   HEADCOUNT_FAULT=kill:SUBSTRING      SIGKILL in place of a rename to such a path
//   HEADCOUNT_FAULT=killed:SUBSTRING    SIGKILL just after such a rename
//   HEADCOUNT_FAULT=clock:SECONDS       the wall clock is moved back this far after two seconds

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include <dlfcn.h>
#include <limits.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

// What follows "KIND:" in the environment; nullptr where another fault is asked for.
const char* fault(const char* kind) {
  const char* asked = std::getenv("HEADCOUNT_FAULT");
  const std::size_t length = std::strlen(kind);
  return asked && std::strncmp(asked, kind, length) == 0 && asked[length] == ':'
             ? asked + length + 1
             : nullptr;
}

template <class Function>
Function original(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

bool disk_is_full(int fd) {
  const char* wanted = fault("full");
  if (!wanted) return false;
  char path[PATH_MAX + 1] = {};
  const auto link = "/proc/self/fd/" + std::to_string(fd);
  return ::readlink(link.c_str(), path, PATH_MAX) > 0 && std::strstr(path, wanted);
}

long seconds_moved() {
  const char* seconds = fault("clock");
  if (!seconds) return 0;
  static const auto real = original<int (*)(clockid_t, timespec*)>("clock_gettime");
  static const timespec began = [] {
    timespec now{};
    real(CLOCK_MONOTONIC, &now);
    return now;
  }();
  timespec now{};
  real(CLOCK_MONOTONIC, &now);
  return now.tv_sec - began.tv_sec >= 2 ? std::atol(seconds) : 0;
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void* data, size_t size) {
  static const auto real = original<ssize_t (*)(int, const void*, size_t)>("write");
  if (disk_is_full(fd)) {
    errno = ENOSPC;
    return -1;
  }
  return real(fd, data, size);
}

ssize_t writev(int fd, const iovec* pieces, int count) {
  static const auto real = original<ssize_t (*)(int, const iovec*, int)>("writev");
  if (disk_is_full(fd)) {
    errno = ENOSPC;
    return -1;
  }
  return real(fd, pieces, count);
}

int rename(const char* from, const char* to) {
  static const auto real = original<int (*)(const char*, const char*)>("rename");
  const auto names = [&](const char* wanted) { return wanted && std::strstr(to, wanted); };
  if (names(fault("kill"))) ::raise(SIGKILL);
  const int result = real(from, to);
  if (names(fault("killed"))) ::raise(SIGKILL);
  return result;
}

int clock_gettime(clockid_t clock, timespec* time) {
  static const auto real = original<int (*)(clockid_t, timespec*)>("clock_gettime");
  const int result = real(clock, time);
  if (clock == CLOCK_REALTIME) time->tv_sec -= seconds_moved();
  return result;
}

time_t time(time_t* out) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}
}
