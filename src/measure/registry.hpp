#pragma once

#include "measure/measure.hpp"

namespace headcount {

#define HEADCOUNT_ENTRY(entry) MeasureEntry entry();
#include "measure/registry.def"
#undef HEADCOUNT_ENTRY

}  // namespace headcount
