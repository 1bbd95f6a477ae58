#pragma once

#include <string>
#include <string_view>

#include "spec/grid.hpp"
#include "spec/settings.hpp"

namespace headcount {

// One trial of an experiment, as the spec has it.
struct TrialSpec {
  Settings settings;
  Point axis_values;           // swept keys and their values, in the order of the axes
  std::string slug;            // the same for people: heads-8_seed-1; of a case: NAME_seed-1
  std::string case_name = "";  // NAME of the [case.NAME] it comes from; "": the product
};

// Axis values as a piece of a file name: the last word of each key and its value, the whole key
// where two share their last word; letters, digits and ". _ - +" only, at most 80 bytes. A
// point without axes is named by `otherwise`.
std::string slug_of(const Point& point, std::string_view otherwise);

// The same of a case's point, behind the name of the case.
std::string slug_of_case(std::string_view name, const Point& point);

// The name of a trial's file: the slug and 12 hexadecimal digits that tell trials apart, from the
// sha256 of the resolved spec and of the data (`data_hash`: Task::data_hash()).
std::string trial_id(std::string_view slug, const Settings& settings, std::string_view data_hash);

}  // namespace headcount
