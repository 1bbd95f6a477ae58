#include <type_traits>

#include "math/kernels/levels.hpp"

#ifdef __AVX2__

// clang-format off: in this order
#include "math/kernels/approximations.hpp"
#include "math/kernels/pack_avx2.hpp"
#include "math/kernels/source.hpp"
// clang-format on

namespace headcount {
namespace {
constexpr Kernels<float> kTable = Source<Avx2Pack>::table("avx2");
}
const Kernels<float>* avx2_kernels() { return &kTable; }
}  // namespace headcount

#else
namespace headcount {
const Kernels<float>* avx2_kernels() { return nullptr; }
}  // namespace headcount
#endif
