#pragma once

#include <string>

namespace headcount {

// What this binary is.
struct BuildProvenance {
  std::string version, commit, compiler, flags;
  std::string instruction_set;  // of the build, and what libraries choose on this processor
  std::string products;         // the library of large matrix products
  bool operator==(const BuildProvenance&) const = default;
};
BuildProvenance build_provenance();

std::string cpu_name();  // from /proc/cpuinfo, "unknown" elsewhere

}  // namespace headcount
