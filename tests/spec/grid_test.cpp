#include "spec/grid.hpp"

#include <cstdint>
#include <set>

#include "catch.hpp"
#include "spec/laws.hpp"

namespace headcount {
namespace {

TEST_CASE("the last group moves fastest and keys of a group move together") {
  const std::vector<AxisGroup> groups{{{"a"}, {{"1"}, {"2"}}},
                                      {{"b", "c"}, {{"x", "y"}, {"z", "w"}}}};
  CHECK(product(groups) == std::vector<Point>{{{"a", "1"}, {"b", "x"}, {"c", "y"}},
                                              {{"a", "1"}, {"b", "z"}, {"c", "w"}},
                                              {{"a", "2"}, {"b", "x"}, {"c", "y"}},
                                              {{"a", "2"}, {"b", "z"}, {"c", "w"}}});
  CHECK(product({}) == std::vector<Point>{{}});
}

TEST_CASE("sizes stop at the limit instead of overflowing") {
  const AxisGroup big{{"a"}, std::vector<std::vector<std::string>>(1 << 16, {"x"})};
  CHECK(product_size({big, big, big, big, big}, 10000) == 10001);
  CHECK(product_size({}, 10) == 1);
  CHECK(product_size({AxisGroup{{"a"}, {{"1"}, {"2"}}}}, 2) == 2);
  CHECK(product_size({AxisGroup{{"a"}, {{"1"}, {"2"}}}}, 1) == 2);
}

TEST_CASE("law: a product has as many points as the product of its axes, all different") {
  REQUIRE(rc::check("up to four axes", [] {
    const auto sizes =
        *rc::gen::resize(4, rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 6)));
    std::vector<AxisGroup> groups;
    std::size_t wanted = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      auto& group = groups.emplace_back(AxisGroup{{"key" + std::to_string(i)}, {}});
      for (int v = 0; v < sizes[i]; ++v) group.rows.push_back({std::to_string(v)});
      wanted *= group.rows.size();
    }
    const auto points = product(groups);
    RC_ASSERT(points.size() == wanted);
    RC_ASSERT(std::set<Point>(points.begin(), points.end()).size() == wanted);
    RC_ASSERT(product_size(groups, 100000) == wanted);
  }));
}

}  // namespace
}  // namespace headcount
