#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/layers.hpp"
#include "spec/settings.hpp"

namespace headcount {

// What the literature says, in a form that trials can support or refute. Grammar of a [claim.NAME]:
//
//   left   = QUANTITY      two quantities to compare ...
//   right  = QUANTITY
//   expect = left > right [by NUMBER] | left < right [by NUMBER] | left ~ right within NUMBER
//
//   value  = QUANTITY      ... or one to follow over a numeric key that is swept
//   expect = increasing over KEY | decreasing over KEY | peak inside over KEY |
//            valley inside over KEY
//
//   published = TEXT       what the source reports
//   note      = TEXT       optional
//
//   QUANTITY = METRIC [on test|validation] [where KEY = VALUE, KEY = VALUE ...]
//
// NUMBER is above 0 and in the unit of the metric.

enum class ClaimSplit { test, validation };

// A number that trials have. Today a score; what else files hold can join as further members.
struct Quantity {
  struct Condition {
    std::string key;
    std::string value;  // canonical
    bool operator==(const Condition&) const = default;
  };
  std::string metric;
  ClaimSplit split = ClaimSplit::test;
  std::vector<Condition> where;  // a trial has the quantity when it meets all of them
  bool operator==(const Quantity&) const = default;
};

struct Expectation {
  enum class Form { greater, less, near, increasing, decreasing, peak_inside, valley_inside };
  Form form{};
  double margin = 0;  // of greater and less: by at least; of near: within
  std::string key;    // what a quantity is followed over; else ""
  bool is_over_key() const { return !key.empty(); }
  bool operator==(const Expectation&) const = default;
};

struct Claim {
  std::string name;
  Place place;
  std::optional<Quantity> left, right;  // of a comparison
  std::optional<Quantity> value;        // of a claim over a key
  Expectation expect;
  std::string published;
  std::string note;
  // Why the trials at hand cannot settle it, as after --set of what it compares; "": they can.
  std::string not_checkable;
};

// As written in a spec; reading it again gives the same.
std::string to_string(const Quantity& quantity);
std::string to_string(const Expectation& expectation);

bool matches(const Quantity& quantity, const Settings& settings);

// The claims of a spec, without looking at its trials. All that is wrong goes to `problems`; claims
// with a problem are left out. `metrics`: the scores a quantity can name.
std::vector<Claim> read_claims(const std::vector<Layers::Block>& blocks, const Schema& schema,
                               const std::vector<std::string>& metrics, Problems& problems);

}  // namespace headcount
