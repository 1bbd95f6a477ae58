#include <type_traits>

#include "math/kernels/levels.hpp"
// clang-format off: in this order
#include "math/kernels/approximations.hpp"
#include "math/kernels/pack_scalar.hpp"
#include "math/kernels/source.hpp"
// clang-format on

namespace headcount {
namespace {
constexpr Kernels<float> kFloat = Source<ScalarPack<float>>::table("portable");
constexpr Kernels<double> kDouble = Source<ScalarPack<double>>::table("portable");
}  // namespace
const Kernels<float>& portable_kernels() { return kFloat; }
const Kernels<double>& double_kernels() { return kDouble; }
}  // namespace headcount
