#include "spec/grid.hpp"

namespace headcount {

std::size_t product_size(const std::vector<AxisGroup>& groups, std::size_t limit) {
  std::size_t size = 1;
  for (const auto& group : groups)
    if (group.rows.empty()) return 0;
  for (const auto& group : groups) {
    if (size > limit / group.rows.size()) return limit + 1;
    size *= group.rows.size();
  }
  return size;
}

std::vector<Point> product(const std::vector<AxisGroup>& groups) {
  std::vector<Point> points{{}};
  for (const auto& group : groups) {
    std::vector<Point> longer;
    longer.reserve(points.size() * group.rows.size());
    for (const auto& point : points)
      for (const auto& row : group.rows) {
        auto& added = longer.emplace_back(point);
        for (std::size_t i = 0; i < row.size(); ++i) added.emplace_back(group.keys[i], row[i]);
      }
    points = std::move(longer);
  }
  return points;
}

}  // namespace headcount
