#include "cli/spec_options.hpp"

#include <fmt/format.h>

#include "analysis/summaries.hpp"
#include "run/config.hpp"
#include "run/schema.hpp"
#include "score/scores.hpp"

namespace headcount {

void add_spec_options(boost::program_options::options_description& options) {
  namespace po = boost::program_options;
  options.add_options()                                                     //
      ("scale", po::value<std::string>(), "apply the spec's [scale.NAME]")  //
      ("set", po::value<std::vector<std::string>>(), "KEY=VALUE; may be given again");
}

namespace {

// What a claim can be about.
std::vector<std::string> quantities() {
  auto names = metrics().names();
  for (const auto& metric : metrics().names()) names.push_back(metric + "_generated");
  for (const auto& summary : trial_summaries().names()) names.push_back(summary);
  return names;
}

}  // namespace

Experiment experiment_of(const Arguments& arguments) {
  auto experiment = load_experiment(
      arguments.text("SPEC"), experiment_schema(),
      {arguments.optional("scale"), arguments.texts("set"), quantities()}, check_settings);
  for (const auto& key : keys_without_effect(experiment))
    fmt::print(stderr,
               "headcount: {} has no effect: no trial's task.kind and task.data ask for it\n", key);
  return experiment;
}

}  // namespace headcount
