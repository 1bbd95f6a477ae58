#include "base/interrupt.hpp"

#include <atomic>
#include <csignal>

#include <unistd.h>

namespace headcount {
namespace {

std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "used in a signal handler");

void on_signal(int signal) {
  if (requested.exchange(true)) ::_exit(128 + signal);
}

}  // namespace

void request_interrupt() noexcept { requested = true; }
bool interrupt_requested() noexcept { return requested; }

void throw_if_interrupted() {
  if (requested) throw Interrupted();
}

void stop_on_signals() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

}  // namespace headcount
