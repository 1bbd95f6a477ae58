#pragma once

#include "math/kernels/kernels.hpp"

namespace headcount {

// One table a level; null where the build has none for this kind of processor.
const Kernels<float>* avx512_kernels();
const Kernels<float>* avx2_kernels();
const Kernels<float>& portable_kernels();
const Kernels<double>& double_kernels();

}  // namespace headcount
