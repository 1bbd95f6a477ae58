#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "spec/grid.hpp"
#include "spec/layers.hpp"

namespace headcount {

// A key's value at a point: the point's, else the fixed one, else the default. Nothing: required.
const std::string* value_at(const Key& key, const Point& point, const Layers& layers,
                            const Schema& schema);

// One point of a sweep and what it comes from.
struct SweepPoint {
  Point values;
  const Layers::Block* extra = nullptr;  // the case that adds it; none: a point of the product
  std::size_t common = 0;  // how many of the first values all points of its case have in common
};

struct SweepPoints {
  std::vector<SweepPoint> points;    // of the product, the last factor moving fastest; of the cases
  std::set<std::string> idle_skips;  // names of skips that match no point
};

// The product of axes and zips, without what the skips drop, and the cases, each once for every
// value of the seeds that are swept and that it does not set. Nothing, and a problem, where the
// points are more than `limit` or their text more than memory should hold: told before they are
// made. A product with skips may have kMostTrials points before they act.
//
// A skip compares the value a key has at the point, also one that is not swept. It acts on the
// product only: a case was asked for by name.
std::optional<SweepPoints> sweep_points(const Layers& layers, const Schema& schema,
                                        std::size_t limit, Problems& problems);

}  // namespace headcount
