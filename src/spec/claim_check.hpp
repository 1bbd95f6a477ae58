#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/claim.hpp"
#include "spec/trial.hpp"

namespace headcount {

// Whether the trials of a sweep can settle a claim: its quantities exist, left and right are
// different trials and can be paired by their seeds, and a key is followed over enough values.
class ClaimCheck {
 public:
  struct Finding {
    std::string key;  // the line to blame: left, right, value or expect
    std::string message;
  };

  // The trials must outlive the check.
  explicit ClaimCheck(const std::vector<TrialSpec>& trials);

  // Nothing: they can.
  std::optional<Finding> operator()(const Claim& claim) const;

 private:
  using Trials = std::vector<std::size_t>;

  std::optional<Finding> check_comparison(const Claim& claim) const;
  std::optional<Finding> check_over_key(const Claim& claim) const;
  Trials matching(const Quantity& quantity) const;
  std::string why_none(const Quantity& quantity) const;
  std::size_t column_of(std::string_view key) const;
  const std::string& value(std::size_t trial, std::size_t column) const;

  const std::vector<TrialSpec>& trials_;
  std::vector<std::size_t> seeds_;  // by trial: equal numbers for equal seeds
};

}  // namespace headcount
