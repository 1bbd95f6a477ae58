#include "run/child.hpp"

#include <csignal>
#include <thread>

#include <poll.h>
#include <unistd.h>

#include "base/interrupt.hpp"
#include "catch.hpp"

namespace headcount {
namespace {

using How = TrialEnd::How;
using namespace std::chrono_literals;

TrialEnd end_of(ChildProcess& child) {
  for (;;) {
    pollfd descriptor{child.descriptor(), POLLIN, 0};
    ::poll(&descriptor, 1, -1);
    if (!child.read()) return child.wait();
  }
}

TEST_CASE("a child tells what it does and how it ends") {
  const std::string long_reason(100'000, 'x');
  ChildProcess child([&](const Reporter& reporter) {
    reporter.news({"step 3", 3});
    return TrialEnd{How::failed, "\xff" + long_reason, ExitCode::bad_data, true};
  });
  const auto end = end_of(child);
  CHECK(child.news().text == "step 3");
  CHECK(child.news().step == 3);
  CHECK(end.how == How::failed);
  CHECK(end.reason == "\uFFFD" + long_reason);
  CHECK(end.code == ExitCode::bad_data);
  CHECK(end.recorded);
}

TEST_CASE("a child whose parent does not listen goes on, and its end arrives") {
  ChildProcess child([](const Reporter& reporter) {
    for (std::int64_t step = 1; step <= 20'000; ++step)
      reporter.news({std::string(300, 's'), step});
    return TrialEnd{.how = How::done};
  });
  // It is through with its news long before anybody reads them, or this would never end.
  const auto end = end_of(child);
  CHECK(end.how == How::done);
  CHECK(child.news().step > 0);
}

TEST_CASE("a child that ends without a word is told by its status") {
  SECTION("killed") {
    ChildProcess child([](const Reporter&) {
      ::kill(::getpid(), SIGKILL);
      return TrialEnd{};
    });
    const auto end = end_of(child);
    CHECK(end.how == How::crashed);
    CHECK(end.reason == "killed by signal 9 (SIGKILL); perhaps the machine ran out of memory");
  }
  SECTION("crashed") {
    ChildProcess child([](const Reporter&) {
      std::signal(SIGABRT, SIG_DFL);
      ::kill(::getpid(), SIGABRT);
      return TrialEnd{};
    });
    const auto end = end_of(child);
    CHECK(end.how == How::crashed);
    CHECK(end.reason == "killed by signal 6 (SIGABRT)");
  }
  SECTION("left") {
    ChildProcess child([](const Reporter&) -> TrialEnd { ::_exit(3); });
    const auto end = end_of(child);
    CHECK(end.how == How::crashed);
    CHECK(end.reason == "its process ended with exit code 3 and without a word");
  }
}

TEST_CASE("what a child throws does not reach what its parent was doing") {
  ChildProcess child([](const Reporter&) -> TrialEnd { throw std::runtime_error("oops"); });
  const auto end = end_of(child);
  CHECK(end.how == How::failed);
  CHECK(end.code == ExitCode::internal);
  CHECK(end.reason == "oops (a bug; please report it)");
}

TrialEnd until_interrupted(const Reporter& reporter) {
  reporter.news({"waits", 1});
  while (!interrupt_requested()) std::this_thread::sleep_for(1ms);
  return {How::interrupted, "", ExitCode::try_again, false};
}

TEST_CASE("a child has a process group of its own, and stops when it is asked to") {
  ChildProcess child(until_interrupted);
  while (child.news().step == 0) REQUIRE(child.read());
  CHECK(::getpgid(child.pid()) == child.pid());
  CHECK(::getpgid(child.pid()) != ::getpgid(0));
  child.signal(SIGTERM);
  CHECK(end_of(child).how == How::interrupted);
}

TEST_CASE("a child does not outlive the object that stands for it") {
  pid_t pid = 0;
  {
    const ChildProcess child(until_interrupted);
    pid = child.pid();
    CHECK(::kill(pid, 0) == 0);
  }
  CHECK(::kill(pid, 0) != 0);
}

}  // namespace
}  // namespace headcount
