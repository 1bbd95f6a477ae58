#pragma once

#include <cstdlib>

#include <rapidcheck.h>

// The laws of this module are checked on the same 1000 inputs every time; RC_PARAMS set outside
// asks for others.
inline const int kLawsAreSeeded = setenv("RC_PARAMS", "seed=1717 max_success=1000", 0);
