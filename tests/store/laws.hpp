// The laws of this module are checked on the same inputs every time; RC_PARAMS set outside wins.
#pragma once

#include <cstdlib>

#include <rapidcheck.h>

namespace headcount {
inline const int kLawsAreSeeded = ::setenv("RC_PARAMS", "seed=1729 max_success=60", 0);
}  // namespace headcount
