#include "math/kernels/kernels.hpp"

#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "math/kernels/levels.hpp"

namespace headcount {
namespace {

bool can_run_avx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

bool can_run_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

const Kernels<float>& chosen() {
  const auto levels = kernel_levels();
  const char* wanted = std::getenv("HEADCOUNT_LEVEL");
  if (!wanted || !*wanted) return *levels.front();
  std::vector<std::string> names;
  for (const auto* level : levels) {
    if (level->level == std::string_view(wanted)) return *level;
    names.emplace_back(level->level);
  }
  throw Error(ExitCode::usage, fmt::format("HEADCOUNT_LEVEL is '{}'; this processor can run {}",
                                           wanted, join(names, ", ")));
}

}  // namespace

std::vector<const Kernels<float>*> kernel_levels() {
  std::vector<const Kernels<float>*> levels;
  if (avx512_kernels() && can_run_avx512()) levels.push_back(avx512_kernels());
  if (avx2_kernels() && can_run_avx2()) levels.push_back(avx2_kernels());
  levels.push_back(&portable_kernels());
  return levels;
}

template <>
const Kernels<float>& kernels<float>() {
  static const Kernels<float>& table = chosen();
  return table;
}

template <>
const Kernels<double>& kernels<double>() {
  return double_kernels();
}

}  // namespace headcount
