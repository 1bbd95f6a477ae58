// rapidcheck with a fixed seed, so that a red run is red again. RC_PARAMS in the environment wins.
#pragma once

#include <cstdlib>

#include <rapidcheck.h>

namespace headcount::test {

inline const int kPropertySeed = setenv("RC_PARAMS", "seed=20250101", 0);

}  // namespace headcount::test
