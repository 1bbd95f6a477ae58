#pragma once

#include "spec/schema.hpp"

namespace headcount {

// Every key a spec may hold, put together from the registries.
const Schema& experiment_schema();

}  // namespace headcount
