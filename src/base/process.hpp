#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headcount {

// When a process of this host (and pid namespace) started, in clock ticks since the host did: with
// its number this tells it from all others. Nothing for one that is gone, or dead and not yet
// waited for.
std::optional<std::int64_t> process_start(std::int64_t pid);

std::string host_name();  // "unknown" where the system does not say

// The cores (logical processors) that this thread may run on. One of each physical core comes
// first, then those that share one. Empty where the system does not say.
std::vector<int> allowed_cores();

// Keeps this thread, and those it will start, on one core. False where that is not possible.
bool stay_on_core(int core);

}  // namespace headcount
