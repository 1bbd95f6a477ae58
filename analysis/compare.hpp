#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics.hpp"
#include "analysis/table.hpp"

namespace headcount {

// A score of one trial and what it means.
struct TrialScore {
  double value = 0;
  std::string split;       // "test", "validation"
  std::string definition;  // long_name
  std::string unit;
};

// What comparison needs of one trial file.
struct TrialRow {
  std::string id;
  std::map<std::string, std::string> settings;  // the resolved spec: key, value
  std::map<std::string, TrialScore> metrics;
};

struct CompareOptions {
  std::vector<std::string> by;          // setting keys; their values name the groups
  std::vector<std::string> metrics;     // names under /evaluation/<split>
  std::optional<std::string> baseline;  // one value for each key of `by`, separated by commas
  double confidence = 0.95;
};

// A trial that is counted nowhere, and why.
struct Excluded {
  std::string trial;  // id or file name
  std::string reason;
};

struct Group {
  std::vector<std::string> values;  // one for each key of `by`
  bool is_baseline = false;
  Summary summary;                             // over the trials of the group
  std::optional<PairedDifference> difference;  // group - baseline; empty without pairs
};

struct MetricComparison {
  std::string metric;
  TrialScore about;  // split, definition and unit that all trials share; value is unused
  std::vector<Group> groups;
};

struct Comparison {
  std::vector<std::string> by;
  bool has_baseline = false;
  double confidence = 0.95;
  std::vector<MetricComparison> metrics;
  std::vector<Excluded> excluded;
  std::vector<std::string> notes;  // what a reader of the numbers must know
};

// Groups trials by the values of `by` and compares each group with the baseline group, trial by
// trial: a pair agrees in every setting that differs among the trials, apart from `by` and from
// settings that move with it (one value a group, as with zipped keys; never a seed).
//
// Groups stand in numeric order where all values of a key are numbers, else in text order. A trial
// without one of the metrics, or with one that is not finite, is excluded from that metric and
// named. Errors (bad_data): no trial, an unknown key, metric or baseline (with the nearest known
// one), a metric whose split, definition or unit differs between trials, two trials with the same
// settings.
Comparison compare(const std::vector<TrialRow>& trials, const CompareOptions& options);

// One line a metric and group; `difference` and what follows only with a baseline.
Table to_table(const Comparison& comparison);

// What belongs beside the table, one line each: definitions, notes, excluded trials.
std::vector<std::string> remarks(const Comparison& comparison);

}  // namespace headcount
