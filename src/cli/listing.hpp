#pragma once

#include <string>
#include <vector>

#include "analysis/table.hpp"

namespace headcount {

// One registry as `headcount list NAME` shows it.
struct Listing {
  std::string name;  // "measures"
  Table (*table)();
};

const std::vector<Listing>& listings();

}  // namespace headcount
