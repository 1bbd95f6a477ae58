// Spec files: the scan, and all that parse_experiment does with the keys of a real schema.
#include "fuzz.hpp"
#include "run/config.hpp"
#include "run/schema.hpp"
#include "spec/experiment.hpp"
#include "spec/spec_text.hpp"

namespace headcount {
namespace {

// What the scan lets through holds no surprises for what reads it.
void scan(std::string_view text) {
  Problems problems;
  const auto found = read_spec_text(text, "fuzz.ini", problems);
  for (const auto& entry : found.entries) {
    fuzz::require(entry.section < found.sections.size(), "an entry has a section");
    fuzz::require(!entry.key.empty(), "an entry has a key");
    fuzz::require(entry.value.find('\n') == std::string::npos, "a value is one line");
  }
}

// The resolved spec of a trial reads back to the same trial.
void require_round_trip(const Settings& settings) {
  const auto again =
      parse_experiment(settings.to_text(), "resolved", experiment_schema(), {}, check_settings);
  fuzz::require(again.trials.size() == 1, "a resolved spec has one trial");
  fuzz::require(again.trials.front().settings == settings, "a resolved spec reads back the same");
}

}  // namespace
}  // namespace headcount

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headcount;
  const auto text = fuzz::text_of(data, size);
  scan(text);
  SpecOptions options;
  options.sets = {"experiment.max-trials=4"};  // so that one input takes little time
  if (text.find("[scale.smoke]") != std::string_view::npos) options.scale = "smoke";
  Experiment experiment;
  const bool read = fuzz::answers([&] {
    experiment = parse_experiment(text, "fuzz.ini", experiment_schema(), options, check_settings);
  });
  if (!read) return 0;
  fuzz::require(!experiment.trials.empty(), "a spec without mistakes has a trial");
  if (!fuzz::answers([&] { require_round_trip(experiment.trials.front().settings); }))
    fuzz::broken("a resolved spec is read without complaint");
  return 0;
}
