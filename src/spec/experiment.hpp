#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/claim.hpp"
#include "spec/problem.hpp"
#include "spec/schema.hpp"
#include "spec/settings.hpp"
#include "spec/trial.hpp"

namespace headcount {

// A spec, read: what is asked, and the trials that answer it.
struct Experiment {
  std::string name;      // can serve as a folder's name
  std::string question;  // may be empty, as may be the source
  std::string source;
  std::vector<std::string> axes;  // the swept keys, those of zips too, in order
  // Every key as it stands outside its axis. A required key that is only swept is not in it.
  Settings base;
  // The product, the last axis moving fastest, without what is skipped; then the cases.
  std::vector<TrialSpec> trials;
  std::vector<Claim> claims;
};

// What the command line adds to a spec.
struct SpecOptions {
  std::optional<std::string> scale = std::nullopt;  // --scale NAME
  std::vector<std::string> sets = {};               // --set KEY=VALUE, in order
  std::vector<std::string> metrics = {};            // the scores that claims can name
  bool sets_are_options = false;  // measure.examples=4 was given as --examples 4, say its errors
};

// What only the model can tell of settings whose every value is well formed: that the width divides
// by the heads, that a masked head exists. Called once a trial; `key` says whose line to name.
struct KeyProblem {
  std::string key;
  std::string message;
};
using SettingsCheck = std::function<std::vector<KeyProblem>(const Settings&)>;

// Reads a spec. Which layer of it beats which is written in spec/layers.hpp; the grammar of lines
// in spec/spec_text.hpp, of values in spec/value_type.hpp, of axes in spec/axis_values.hpp, of
// claims in spec/claim.hpp; what zips, cases and skips make of the axes in spec/points.hpp.
//
// Throws SpecError (bad_data) with all that is wrong, in the order of the lines. The check sees the
// trials only when every value could be read and no required key is missing. Two trials with equal
// settings are a problem. A skip that matches nothing and a claim that no trials can settle are
// problems when they are so without --scale and --set too; else the skip is let be, and the claim
// is marked not_checkable.
Experiment parse_experiment(std::string_view text, const std::string& file, const Schema& schema,
                            const SpecOptions& options = {}, const SettingsCheck& check = {});

// The same from a file. Further errors: those of read_file.
Experiment load_experiment(const std::filesystem::path& path, const Schema& schema,
                           const SpecOptions& options = {}, const SettingsCheck& check = {});

}  // namespace headcount
