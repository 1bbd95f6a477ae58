#include "run/sweep.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/interrupt.hpp"
#include "run/config.hpp"
#include "run/trial.hpp"
#include "store/reader.hpp"
#include "task/make_task.hpp"

namespace headcount {
namespace fs = std::filesystem;
namespace {

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(ExitCode::cannot_create,
                fmt::format("cannot make the folder {}: {}", folder.string(), error.message()));
}

// Trials that differ only in model or training share their data.
class TaskCache {
 public:
  const Task& task(const Settings& settings) {
    const auto key = settings.sections({"task"}).to_text();
    if (!task_ || key != key_) {  // none after data that could not be had
      task_.reset();
      task_ = make_task(task_config(settings));
      key_ = key;
    }
    return *task_;
  }

 private:
  std::string key_;
  std::unique_ptr<Task> task_;
};

class Sweep {
 public:
  Sweep(const Experiment& experiment, const SweepOptions& options)
      : experiment_(experiment), options_(options), team_(options.threads) {}

  TrialOutcome run(const TrialSpec& trial, std::size_t number) {
    TrialOutcome outcome;
    outcome.trial_id = trial.slug;
    try {
      const Task& task = tasks_.task(trial.settings);
      outcome.trial_id = trial_id(trial.slug, trial.settings, task.data_hash());
      outcome.path = options_.out / (outcome.trial_id + ".h5");
      run(trial, task, number, outcome);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      fail(outcome, error.what(), error.code());
    } catch (const std::exception& error) {
      fail(outcome, error.what(), ExitCode::internal);
    }
    return outcome;
  }

 private:
  void run(const TrialSpec& trial, const Task& task, std::size_t number, TrialOutcome& outcome) {
    const auto label = fmt::format("[{}/{}] {}", number, experiment_.trials.size(), trial.slug);
    if (fs::exists(outcome.path)) {
      const auto problem = validate(outcome.path);
      if (!problem) {
        outcome.status = TrialOutcome::Status::skipped;
        if (!options_.quiet)
          fmt::print(stderr, "{} is done already: {}\n", label, outcome.path.string());
        return;
      }
      fmt::print(stderr, "{} runs again: {}\n", label, *problem);
    }
    fs::remove(failure_path(outcome));
    Progress progress(label, options_.out / (outcome.trial_id + ".jsonl"), options_.quiet);
    run_trial({&experiment_, &trial, &task, outcome.trial_id, outcome.path}, team_, progress);
    outcome.status = TrialOutcome::Status::done;
  }

  fs::path failure_path(const TrialOutcome& outcome) const {
    return options_.out / (outcome.trial_id + ".failed.json");
  }

  void fail(TrialOutcome& outcome, const std::string& reason, ExitCode code) {
    outcome.status = TrialOutcome::Status::failed;
    outcome.reason = reason;
    outcome.code = code;
    fmt::print(stderr, "{} failed: {}\n", outcome.trial_id, reason);
    std::ofstream file(failure_path(outcome));
    file << nlohmann::json{{"trial", outcome.trial_id},
                           {"reason", reason},
                           {"code", static_cast<int>(code)}}
                .dump(2)
         << '\n';
    if (!file)
      fmt::print(stderr, "cannot write {}: {}\n", failure_path(outcome).string(),
                 std::strerror(errno));
  }

  const Experiment& experiment_;
  const SweepOptions& options_;
  ThreadTeam team_;
  TaskCache tasks_;
};

}  // namespace

std::vector<TrialOutcome> run_sweep(const Experiment& experiment, const SweepOptions& options) {
  make_folder(options.out);
  Sweep sweep(experiment, options);
  std::vector<TrialOutcome> outcomes;
  for (const auto& trial : experiment.trials)
    outcomes.push_back(sweep.run(trial, outcomes.size() + 1));
  return outcomes;
}

}  // namespace headcount
