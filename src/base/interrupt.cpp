#include "base/interrupt.hpp"

#include <array>
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

// Handlers run on a stack of their own. Machine code that libraries make at run time (oneDNN's
// products) uses the stack pointer for data, and a signal's frame would be written across these.
void give_handlers_a_stack() {
  stack_t present{};
  ::sigaltstack(nullptr, &present);
  if ((present.ss_flags & SS_DISABLE) == 0) return;
  static std::array<char, std::size_t{1} << 16> memory;
  const stack_t stack{memory.data(), 0, memory.size()};
  ::sigaltstack(&stack, nullptr);
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  ::sigaction(number, &action, nullptr);
}

}  // namespace

void request_interrupt() noexcept { requested = true; }
bool interrupt_requested() noexcept { return requested; }

void throw_if_interrupted() {
  if (requested) throw Interrupted();
}

bool checkpoint_requested() noexcept { return checkpoint.exchange(false); }

void stop_on_signals() {
  give_handlers_a_stack();
  handle(SIGINT, on_signal);
  handle(SIGTERM, on_signal);
  handle(SIGUSR1, on_checkpoint_signal);
}

}  // namespace headcount
