#include "base/interrupt.hpp"

#include <atomic>
#include <csignal>

#include <unistd.h>

namespace headcount {
namespace {

std::atomic<bool> requested{false};
std::atomic<bool> checkpoint{false};
static_assert(std::atomic<bool>::is_always_lock_free, "used in a signal handler");

void on_signal(int signal) {
  if (requested.exchange(true)) ::_exit(128 + signal);
}

void on_checkpoint_signal(int) { checkpoint = true; }

}  // namespace

void request_interrupt() noexcept { requested = true; }
bool interrupt_requested() noexcept { return requested; }

void throw_if_interrupted() {
  if (requested) throw Interrupted();
}

bool checkpoint_requested() noexcept { return checkpoint.exchange(false); }

void stop_on_signals() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGUSR1, on_checkpoint_signal);
}

}  // namespace headcount
