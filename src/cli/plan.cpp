#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/spec_options.hpp"
#include "run/calibration.hpp"
#include "run/config.hpp"
#include "run/cost.hpp"
#include "run/progress.hpp"
#include "task/make_task.hpp"

namespace headcount {
namespace {

void options(boost::program_options::options_description& options) {
  namespace po = boost::program_options;
  add_spec_options(options);
  options.add_options()                                                                //
      ("jobs", po::value<std::string>()->default_value("1"), "trials side by side")    //
      ("threads", po::value<std::string>()->default_value("1"), "threads of a trial")  //
      ("no-time", "no expected times, so nothing is measured");
  add_format_option(options);
}

// A calibration that fits, measured first where none does.
Calibration calibration_here() {
  const auto path = calibration_path();
  try {
    return read_calibration(path);
  } catch (const Error& error) {
    constexpr int kSeconds = 12;
    fmt::print(stderr, "no calibration fits ({}); measuring for about {} s\n", error.what(),
               kSeconds);
    const auto calibration = fit(run_probes(kSeconds));
    try {
      write_calibration(calibration, path);
    } catch (const Error& unwritten) {
      fmt::print(stderr, "{}; it will be measured again\n", unwritten.what());
    }
    return calibration;
  }
}

struct Plan {
  std::vector<std::string> names;
  std::vector<TrialCost> costs;
  std::vector<std::optional<std::size_t>> trained_by;  // an earlier trial with the same model

  double flops(std::size_t i) const {
    return trained_by[i] ? costs[i].stage_flops.after_training() : costs[i].flops;
  }
  double seconds(std::size_t i) const {
    return trained_by[i] ? costs[i].stage_seconds.after_training() : costs[i].seconds;
  }
  double sum(double (Plan::*part)(std::size_t) const) const {
    double total = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) total += (this->*part)(i);
    return total;
  }
};

// What the plan needs of the data.
struct Data {
  TaskSizes sizes;
  std::string hash;
};
std::string data_key(const TrialSpec& trial) { return trial.settings.sections({"task"}).to_text(); }

std::map<std::string, Data> data_of(const Experiment& experiment) {
  std::map<std::string, Data> data;
  for (const auto& trial : experiment.trials) {
    throw_if_interrupted();
    const auto [entry, is_new] = data.try_emplace(data_key(trial));
    if (!is_new) continue;
    try {
      const auto task = make_task(task_config(trial.settings));
      entry->second = {sizes_of(*task), task->data_hash()};
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("trial {}: {}", trial.slug, error.what()));
    }
  }
  return data;
}

Plan plan_of(const Experiment& experiment, const std::map<std::string, Data>& data,
             const Calibration* calibration, int threads) {
  std::map<std::string, std::size_t> first_with;  // by model id
  Plan plan;
  for (const auto& trial : experiment.trials) {
    const auto& [sizes, hash] = data.at(data_key(trial));
    const auto place = plan.names.size();
    const auto first = first_with.try_emplace(model_id(trial.settings, hash), place).first->second;
    plan.names.push_back(trial.slug);
    plan.costs.push_back(trial_cost(trial.settings, sizes, calibration, threads));
    plan.trained_by.push_back(first == place ? std::nullopt : std::optional(first));
  }
  return plan;
}

constexpr double kTera = 1e12, kMega = 1e6;

Table trial_table(const Plan& plan) {
  Table table({"trial", "trained_by", "parameters", "tflop", "memory_mb", "train_s", "evaluate_s",
               "measure_s", "prune_s", "total_s"});
  for (std::size_t i = 0; i < plan.names.size(); ++i) {
    const auto& cost = plan.costs[i];
    const auto& seconds = cost.stage_seconds;
    const auto by = plan.trained_by[i];
    table.add_row({plan.names[i], by ? Cell(plan.names[*by]) : Cell(), cost.parameters,
                   plan.flops(i) / kTera, cost.bytes / kMega, number(by ? 0 : seconds.train),
                   number(seconds.evaluate), number(seconds.measure), number(seconds.prune),
                   number(plan.seconds(i))});
  }
  return table;
}

// Most memory when the largest trials happen to run side by side.
double most_bytes(const Plan& plan, int jobs) {
  std::vector<double> bytes;
  for (const auto& cost : plan.costs) bytes.push_back(cost.bytes);
  std::sort(bytes.begin(), bytes.end(), std::greater<>());
  bytes.resize(std::min(bytes.size(), static_cast<std::size_t>(jobs)));
  double sum = 0;
  for (const double each : bytes) sum += each;
  return sum;
}

Table total_table(const Plan& plan, int jobs, bool timed) {
  Table table({"total", "value", "unit"});
  const auto trained = std::count(plan.trained_by.begin(), plan.trained_by.end(), std::nullopt);
  table.add_row({"trials", static_cast<std::int64_t>(plan.names.size()), ""});
  table.add_row({"models trained", static_cast<std::int64_t>(trained), ""});
  table.add_row({"arithmetic", plan.sum(&Plan::flops) / kTera, "TFLOP"});
  table.add_row({fmt::format("memory of {} trial{} at once", jobs, jobs == 1 ? "" : "s"),
                 most_bytes(plan, jobs) / kMega, "MB"});
  if (!timed) return table;
  std::vector<PlannedTrial> trials;
  for (std::size_t i = 0; i < plan.names.size(); ++i)
    trials.push_back({plan.seconds(i), plan.trained_by[i]});
  table.add_row({"time of all trials", plan.sum(&Plan::seconds), "s"});
  table.add_row(
      {fmt::format("until the last ends, jobs = {}", jobs), sweep_seconds(trials, jobs), "s"});
  return table;
}

void print(const Table& trials, const Table& totals, TableFormat format) {
  if (format != TableFormat::json) {
    fmt::print("{}\n{}", render(trials, format), render(totals, format));
    return;
  }
  Json all;
  all["trials"] = parse_json(render(trials, format));
  all["totals"] = parse_json(render(totals, format));
  fmt::print("{}\n", to_text(all, 2));
}

ExitCode run(const Arguments& arguments) {
  const int jobs = arguments.integer("jobs", 1), threads = arguments.integer("threads", 1);
  const auto format = arguments.format();
  const auto experiment = experiment_of(arguments);
  stop_on_signals();
  const auto data = data_of(experiment);
  std::optional<Calibration> calibration;
  if (!arguments.has("no-time")) calibration = calibration_here();
  const auto plan = plan_of(experiment, data, calibration ? &*calibration : nullptr, threads);
  print(trial_table(plan), total_table(plan, jobs, calibration.has_value()), format);
  return ExitCode::success;
}

}  // namespace

Command plan_command() {
  return {"plan",     "what the trials of a spec will cost: parameters, memory, time",
          {{"SPEC"}}, "headcount plan experiments/head-count.ini --scale small --jobs 2",
          options,    run};
}

}  // namespace headcount
