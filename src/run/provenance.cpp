#include "run/provenance.hpp"

#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.hpp"
#include "math/kernels/kernels.hpp"
#include "math/product.hpp"
#include "run/build_info.hpp"

namespace headcount {

BuildProvenance build_provenance() {
  std::string level =
      fmt::format("{}, kernels {}", HEADCOUNT_INSTRUCTION_SET, kernels<float>().level);
  if (const auto products = product_level(); !products.empty())
    level += fmt::format(", {} {}", product_library(), products);
  return {HEADCOUNT_VERSION,
          HEADCOUNT_COMMIT,
          HEADCOUNT_COMPILER,
          HEADCOUNT_FLAGS,
          level,
          std::string(product_library())};
}

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0) return std::string(trim(line.substr(line.find(':') + 1)));
  return "unknown";
}

}  // namespace headcount
