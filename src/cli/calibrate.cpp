#include <cmath>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "run/calibration.hpp"

namespace headcount {
namespace {

void options(boost::program_options::options_description& options) {
  options.add_options()("seconds",
                        boost::program_options::value<std::string>()->default_value("12"),
                        "about how long to measure");
  add_format_option(options);
}

// What the fit found and how well it tells the time of each probe.
Table table_of(const Calibration& calibration, const std::vector<Probe>& probes) {
  Table table({"quantity", "unit", "measured", "fitted", "error_percent"});
  for (const auto& [name, feature] : {std::pair{"large products", Feature::product_flops},
                                      std::pair{"products of heads", Feature::head_flops}})
    if (const double rate = calibration.rate(feature); rate > 0)
      table.add_row({name, "GFLOP/s", {}, 1e-9 / rate, {}});
  for (const auto feature : all_features())
    table.add_row(
        {std::string(name_of(feature)), "ns/unit", {}, 1e9 * calibration.rate(feature), {}});
  for (const auto& probe : probes) {
    const double fitted = calibration.time(probe.work);
    table.add_row(
        {probe.name, "ms", 1e3 * probe.seconds, 1e3 * fitted, 100 * (fitted / probe.seconds - 1)});
  }
  return table;
}

ExitCode run(const Arguments& arguments) {
  const auto format = arguments.format();
  const int seconds = arguments.integer("seconds", 0);
  stop_on_signals();
  const auto probes = run_probes(seconds);
  const auto calibration = fit(probes);
  fmt::print("{}", render(table_of(calibration, probes), format));
  const auto path = calibration_path();
  write_calibration(calibration, path);
  fmt::print(stderr, "written to {}\n", path.string());
  return ExitCode::success;
}

}  // namespace

Command calibrate_command() {
  return {"calibrate", "measure how fast this machine trains and evaluates, for headcount plan",
          {},          "headcount calibrate --seconds 20",
          options,     run};
}

}  // namespace headcount
