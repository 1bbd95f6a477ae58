#pragma once

#include <string>

namespace headcount {

// An interval of the reals in the usual notation: "(0, 1]", "[0, inf)".
class Interval {
 public:
  explicit Interval(std::string notation);  // throws Error (internal) when it is not one
  bool contains(double value) const;
  const std::string& notation() const { return notation_; }
  bool operator==(const Interval&) const = default;

 private:
  std::string notation_;
  double low_ = 0;
  double high_ = 0;
};

}  // namespace headcount
