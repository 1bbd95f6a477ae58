#pragma once

#include <cstdint>
#include <optional>

namespace headcount {

// When a process of this host (and pid namespace) started, in clock ticks since the host did: with
// its number this tells it from all others. Nothing for one that is gone, or dead and not yet
// waited for.
std::optional<std::int64_t> process_start(std::int64_t pid);

}  // namespace headcount
