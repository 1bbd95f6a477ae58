#pragma once

#include <string>

namespace headcount {

// What this binary is.
struct BuildProvenance {
  std::string version, commit, compiler, flags, instruction_set, products;
};
BuildProvenance build_provenance();

std::string cpu_name();  // from /proc/cpuinfo, "unknown" elsewhere
std::string host_name();

}  // namespace headcount
