#pragma once

#include "model/model.hpp"

namespace headcount {

// Floating-point operations in the matrix products of one forward pass, a multiply-add as 2, over
// packed sequences; of patterns only what the mask lets through is counted.
double forward_flops(const ModelConfig& config, Offsets offsets);

}  // namespace headcount
