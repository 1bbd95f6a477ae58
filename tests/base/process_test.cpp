#include "base/process.hpp"

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"

namespace headcount {
namespace {

TEST_CASE("a process has a start while it lives, and none once it is dead, waited for or not") {
  const auto own = process_start(::getpid());
  REQUIRE(own);
  CHECK(process_start(::getpid()) == own);
  CHECK(*process_start(1) <= *own);
  CHECK_FALSE(process_start(0));
  CHECK_FALSE(process_start(1LL << 40));

  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  CHECK(process_start(child).value_or(-1) >= *own);
  ::kill(child, SIGKILL);
  siginfo_t ended{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
  CHECK_FALSE(process_start(child));  // a zombie
  ::waitpid(child, nullptr, 0);
  CHECK_FALSE(process_start(child));
}

}  // namespace
}  // namespace headcount
