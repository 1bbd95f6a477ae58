#pragma once

#include <string>

#include "spec/schema.hpp"

namespace headcount {

enum class HelpFormat { text, markdown };

// Every key with its type, range, default and meaning, by section, and the sections that act on
// keys: what `headcount help spec` prints.
std::string help_text(const Schema& schema, HelpFormat format);

}  // namespace headcount
