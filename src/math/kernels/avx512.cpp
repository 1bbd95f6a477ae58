// Compiled with -mavx512f and its like: see cmake/flags.cmake.
#include <type_traits>

#include "math/kernels/levels.hpp"

#ifdef __AVX512F__

// clang-format off: in this order
#include "math/kernels/approximations.hpp"
#include "math/kernels/pack_avx512.hpp"
#include "math/kernels/source.hpp"
// clang-format on

namespace headcount {
namespace {
constexpr Kernels<float> kTable = Source<Avx512Pack>::table("avx512");
}
const Kernels<float>* avx512_kernels() { return &kTable; }
}  // namespace headcount

#else
namespace headcount {
const Kernels<float>* avx512_kernels() { return nullptr; }
}  // namespace headcount
#endif
