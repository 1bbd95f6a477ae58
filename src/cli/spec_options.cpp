#include "cli/spec_options.hpp"

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

Experiment experiment_of(const Arguments& arguments) {
  return load_experiment(arguments.text("SPEC"), experiment_schema(),
                         {arguments.optional("scale"), arguments.texts("set"), metrics().names()},
                         check_settings);
}

}  // namespace headcount
