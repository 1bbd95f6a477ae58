#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace headcount {

// A value for every layer of a stack: one for all, or one a layer.
template <class T>
class PerLayer {
 public:
  PerLayer(T all) : values_{std::move(all)} {}                     // NOLINT: written as a value
  PerLayer(std::vector<T> values) : values_(std::move(values)) {}  // NOLINT

  const T& at(std::size_t layer) const {
    return values_.size() == 1 ? values_[0] : values_.at(layer);
  }
  std::size_t given() const { return values_.size(); }
  bool fits(std::size_t layers) const { return given() == 1 || given() == layers; }
  // Whether every layer has this value.
  bool all(const T& value) const {
    for (const T& own : values_)
      if (own != value) return false;
    return true;
  }
  bool operator==(const PerLayer&) const = default;

 private:
  std::vector<T> values_;
};

}  // namespace headcount
