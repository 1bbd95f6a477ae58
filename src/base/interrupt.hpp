#pragma once

#include "base/error.hpp"

namespace headcount {

// Somebody asked the program to stop (Ctrl-C). Long work asks between its pieces and leaves by this
// exception, so that destructors run and nothing half-written stays.
class Interrupted : public Error {
 public:
  Interrupted() : Error(ExitCode::try_again, "interrupted; the same command goes on") {}
};

void request_interrupt() noexcept;  // async-signal-safe
bool interrupt_requested() noexcept;
void throw_if_interrupted();  // throws Interrupted

// Somebody wants a checkpoint now, and the work to go on (SIGUSR1). True once for each request.
bool checkpoint_requested() noexcept;

// From now on SIGINT and SIGTERM ask for a stop; a second one ends the program at
// once. SIGUSR1 asks for a checkpoint. To be called on the main thread; others that
// compute should block signals.
void stop_on_signals();

}  // namespace headcount
