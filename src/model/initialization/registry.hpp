#pragma once

#include "model/initialization/scheme.hpp"

namespace headcount {

InitializationEntry xavier_uniform();
InitializationEntry normal_initialization();
InitializationEntry gpt2_initialization();

}  // namespace headcount
