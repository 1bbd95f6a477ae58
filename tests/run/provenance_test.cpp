#include "run/provenance.hpp"

#include <fmt/format.h>

#include "base/process.hpp"
#include "catch.hpp"
#include "math/kernels/kernels.hpp"
#include "math/product.hpp"

namespace headcount {
namespace {

TEST_CASE("a build knows where it comes from") {
  const auto build = build_provenance();
  CHECK(build.version.find('.') != std::string::npos);
  CHECK_FALSE(build.compiler.empty());
  CHECK_FALSE(build.flags.empty());
  CHECK_FALSE(build.instruction_set.empty());
  CHECK(build.products == product_library());
  // Other kernels give other bits.
  CHECK_THAT(build.instruction_set,
             ContainsSubstring(fmt::format("kernels {}", kernels<float>().level)));
  CHECK_FALSE(cpu_name().empty());
  CHECK_FALSE(host_name().empty());
}

}  // namespace
}  // namespace headcount
