#include "base/interval.hpp"

#include <cmath>

#include "base/error.hpp"
#include "catch.hpp"

using namespace headcount;

TEST_CASE("an interval holds what its notation says") {
  const Interval half_open("[0, 1)");
  CHECK(half_open.contains(0));
  CHECK_FALSE(half_open.contains(1));
  CHECK_FALSE(half_open.contains(-0.1));
  CHECK_FALSE(half_open.contains(std::nan("")));
  CHECK(Interval("(0, 1]").contains(1));
  CHECK_FALSE(Interval("(0, 1]").contains(0));
  CHECK(Interval("[2, inf)").contains(1e300));
  CHECK(half_open == Interval("[0, 1)"));
  CHECK(half_open != Interval("[0, 1]"));
}

TEST_CASE("an interval that is none is a bug of ours") {
  for (const auto* notation : {"", "0, 1", "(0 1)", "(1, 0)", "(a, b)", "(0, 1, 2)"})
    CHECK_THROWS_AS(Interval(notation), Error);
}
