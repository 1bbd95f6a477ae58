#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace headcount {

// Keys that take their values together, one row a point. A line of [axis] is a group of one key.
struct AxisGroup {
  std::vector<std::string> keys;
  std::vector<std::vector<std::string>> rows;  // [point, key], canonical values
};

// One point of a sweep: swept keys and their canonical values.
using Point = std::vector<std::pair<std::string, std::string>>;

// How many points the product has; `limit` + 1 when they are more than `limit`.
std::size_t product_size(const std::vector<AxisGroup>& groups, std::size_t limit);

// The cartesian product, the last group moving fastest. One empty point for no groups.
std::vector<Point> product(const std::vector<AxisGroup>& groups);

}  // namespace headcount
