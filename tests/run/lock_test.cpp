#include "run/lock.hpp"

#include <csignal>
#include <thread>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/json.hpp"
#include "catch.hpp"
#include "run/trial_files.hpp"
#include "sample.hpp"

namespace headcount {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

void write_lock(const fs::path& path, const LockOwner& owner) {
  write_text(path, Json{{"host", owner.host},
                        {"boot", owner.boot},
                        {"processes", owner.processes},
                        {"pid", owner.pid},
                        {"started", owner.started},
                        {"token", owner.token}}
                       .dump());
}

LockOwner on_another_host() {
  auto owner = LockOwner::self("theirs");
  owner.host += "-not";
  return owner;
}

pid_t dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

// `seconds` before or after the last touch; clocks of hosts go back and forth.
void shift_time(const fs::path& path, std::chrono::seconds by) {
  fs::last_write_time(path, fs::last_write_time(path) + by);
}

TEST_CASE("a lock is held by one and given back") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trial.lock";
  {
    const auto lock = TrialLock::take(path, "mine");
    REQUIRE(lock);
    const auto found = read_lock(path);
    REQUIRE(found);
    CHECK(found->owner.token == "mine");
    CHECK(found->owner.pid == ::getpid());
    CHECK(state_of(found->owner) == OwnerState::living);
    CHECK_FALSE(TrialLock::take(path, "another"));
    remove_lock(path, "another");
    CHECK(fs::exists(path));
  }
  CHECK_FALSE(fs::exists(path));
  CHECK(TrialLock::take(path, "another"));
}

TEST_CASE("whether an owner lives is told by host, start of the host, process and its start") {
  const auto self = LockOwner::self("token");
  CHECK(state_of(self) == OwnerState::living);
  CHECK(self.started > 0);
  SECTION("its process is gone") {
    auto owner = self;
    owner.pid = dead_process();
    CHECK(state_of(owner) == OwnerState::gone);
  }
  SECTION("its pid is another process by now") {
    auto owner = self;
    owner.started -= 1;
    CHECK(state_of(owner) == OwnerState::gone);
  }
  SECTION("its host was started anew") {
    auto owner = self;
    owner.boot = "another";
    CHECK(state_of(owner) == OwnerState::gone);
  }
  SECTION("its pid is counted in another container") {
    auto owner = self;
    owner.processes = "pid:[1]";
    CHECK(state_of(owner) == OwnerState::unknown);
  }
  SECTION("it is on another host") { CHECK(state_of(on_another_host()) == OwnerState::unknown); }
  SECTION("it is not known") { CHECK(state_of({}) == OwnerState::unknown); }
  SECTION("it is dead and nobody has waited for it yet") {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    siginfo_t info{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
    auto owner = self;
    owner.pid = child;
    CHECK(state_of(owner) == OwnerState::gone);
    ::waitpid(child, nullptr, 0);
  }
}

TEST_CASE("the lock of a dead owner is taken over at once, that of a living one never") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trial.lock";
  auto owner = LockOwner::self("theirs");
  SECTION("dead") {
    owner.pid = dead_process();
    write_lock(path, owner);
    const auto lock = TrialLock::take(path, "mine");
    REQUIRE(lock);
    CHECK(read_lock(path)->owner.token == "mine");
  }
  SECTION("living") {
    write_lock(path, owner);
    CHECK_FALSE(TrialLock::take(path, "mine"));
    CHECK_FALSE(TrialLock::take(path, "mine", read_lock(path)->stamp));
    CHECK(read_lock(path)->owner.token == "theirs");
  }
}

TEST_CASE("what is in the place of a lock and cannot be taken away is told") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trial.lock";
  fs::create_directory(path);
  const auto found = read_lock(path);
  REQUIRE(found);
  CHECK_FALSE(TrialLock::take(path, "mine"));
  CHECK_THROWS_WITH(TrialLock::take(path, "mine", found->stamp),
                    ContainsSubstring("cannot take over the lock " + path.string()));
}

TEST_CASE("a lock of another host is taken over when a watch found it stale") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trial.lock";
  SECTION("readable") { write_lock(path, on_another_host()); }
  SECTION("empty: its owner died while it wrote") { write_text(path, ""); }
  SECTION("no lock at all") { write_text(path, R"({"host": 3})"); }
  const auto stamp = read_lock(path)->stamp;
  CHECK_FALSE(TrialLock::take(path, "mine"));
  shift_time(path, 1s);  // it was touched since
  CHECK_FALSE(TrialLock::take(path, "mine", stamp));
  CHECK(TrialLock::take(path, "mine", read_lock(path)->stamp));
}

TEST_CASE("a watch goes by its own clock, whatever the clock of the files says") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trial.lock";
  write_lock(path, on_another_host());
  LockWatch watch;
  const LockWatch::Time start{1000s};
  const auto is_stale = [&](std::chrono::seconds after) {
    return watch.is_stale(path, *read_lock(path), start + after);
  };
  // far in the past and far in the future are as good as now
  const auto shift = GENERATE(-100'000s, 0s, 100'000s);
  shift_time(path, shift);
  CHECK_FALSE(is_stale(0s));
  CHECK_FALSE(is_stale(59s));
  shift_time(path, -3600s);  // a touch while the clock was set back
  CHECK_FALSE(is_stale(61s));
  CHECK_FALSE(is_stale(120s));
  CHECK(is_stale(121s));
}

TEST_CASE("a watch sees at once that an owner on this host is gone, or lives") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trial.lock";
  LockWatch watch;
  auto owner = LockOwner::self("theirs");
  write_lock(path, owner);
  CHECK_FALSE(watch.is_stale(path, *read_lock(path), LockWatch::Time{0s}));
  CHECK_FALSE(watch.is_stale(path, *read_lock(path), LockWatch::Time{10'000s}));
  owner.pid = dead_process();
  write_lock(path, owner);
  CHECK(watch.is_stale(path, *read_lock(path), LockWatch::Time{10'000s}));
}

TEST_CASE("a held lock is touched now and then") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trial.lock";
  const auto lock = TrialLock::take(path, "mine");
  REQUIRE(lock);
  shift_time(path, -1000s);
  const auto before = read_lock(path)->stamp;
  for (int tries = 0; tries < 6000 && read_lock(path)->stamp == before; ++tries)
    std::this_thread::sleep_for(10ms);
  CHECK(read_lock(path)->stamp != before);
}

TEST_CASE("of many processes one gets the lock") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trial.lock";
  auto stale = LockOwner::self("stale");
  stale.pid = dead_process();
  write_lock(path, stale);
  int ends[2];  // holders stay until the reader has gone
  REQUIRE(::pipe(ends) == 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[1]);
      const auto lock = TrialLock::take(path, std::to_string(::getpid()));
      char nothing = 0;
      if (lock) static_cast<void>(::read(ends[0], &nothing, 1) == 0);
      ::_exit(lock ? 0 : 1);
    }
    children.push_back(child);
  }
  int losers = 0, winners = 0;
  for (int i = 0; i < 7; ++i) {
    int status = 0;
    ::wait(&status);
    losers += WEXITSTATUS(status) == 1 ? 1 : 0;
  }
  ::close(ends[1]);
  int status = 0;
  ::wait(&status);
  winners += WEXITSTATUS(status) == 0 ? 1 : 0;
  ::close(ends[0]);
  CHECK(losers == 7);
  CHECK(winners == 1);
}

TEST_CASE("a lock that cannot be made is told") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(TrialLock::take(folder.path() / "missing" / "trial.lock", "mine"),
                    ContainsSubstring("cannot make the lock") && ContainsSubstring("missing"));
}

}  // namespace
}  // namespace headcount
