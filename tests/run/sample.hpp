// Experiments that run in a fraction of a second.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "run/config.hpp"
#include "run/schema.hpp"
#include "run/sweep.hpp"
#include "spec/experiment.hpp"
#include "task/process.hpp"

namespace headcount {

// Everything a trial can do, on five heads.
inline constexpr const char* kTinySpec = R"(seed = 1
[experiment]
name = tiny
question = Does a trial write what it found?
source = this test
[task]
data = synthetic.recall
recall-pairs = 2
recall-queries = 2
recall-keys = 3
recall-values = 3
recall-examples = 12
[model]
layers = 2
d-model = 12
heads = (2 3)
feed-forward = 16
dropout = 0.1
[attention]
dropout = 0.1
[train]
steps = 6
batch-tokens = 60
learning-rate = 0.01
warm-up = 2
shards = 3
record-every = 2
validate-every = 4
[measure]
measures = entropy, entropy.normalized, confidence, distance, importance.gradient, importance.ablation
during-training = entropy, importance.gradient
patterns = 2
[prune]
methods = importance.gradient, importance.gradient-iterative, random
orders = 2
step = 0.4
build-at = (0 50 100)
)";

// `more` stands behind it in the file.
inline Experiment tiny(std::vector<std::string> sets = {}, const std::string& more = "") {
  SpecOptions options;
  options.sets = std::move(sets);
  return parse_experiment(kTinySpec + more, "tiny.ini", experiment_schema(), options,
                          check_settings);
}

// The settings of its only trial.
inline Settings tiny_settings(std::vector<std::string> sets = {}) {
  return tiny(std::move(sets)).trials.front().settings;
}

// Quiet, and alone: what lies beside the folder are other tests' folders.
inline SweepOptions quiet_into(const std::filesystem::path& folder, int threads = 1) {
  SweepOptions options;
  options.out = folder;
  options.threads = threads;
  options.quiet = true;
  options.look_beside = false;
  return options;
}

inline std::vector<TrialOutcome> run(const Experiment& experiment,
                                     const std::filesystem::path& folder, int threads = 1) {
  return run_sweep(experiment, quiet_into(folder, threads));
}

// Trials that cost next to nothing, one a seed.
inline Experiment many_tiny(int trials, std::vector<std::string> sets = {}) {
  for (const char* set :
       {"model.layers=1", "model.d-model=4", "model.heads=2", "model.feed-forward=8",
        "train.steps=1", "measure.measures=entropy", "measure.during-training=entropy",
        "measure.patterns=0", "prune.methods=random", "prune.orders=1", "prune.build-at=100"})
    sets.emplace_back(set);
  sets.push_back("seed=1 .. " + std::to_string(trials));
  return tiny(std::move(sets));
}

// The file of a one-trial sweep.
inline std::filesystem::path run_one(const std::filesystem::path& folder,
                                     std::vector<std::string> sets = {}, int threads = 1) {
  const auto outcome = run(tiny(std::move(sets)), folder, threads).front();
  if (outcome.status != TrialOutcome::Status::done)
    throw Error(ExitCode::internal, "not done: " + outcome.reason);
  return outcome.path;
}

// Names of the files in a folder that end so.
inline std::vector<std::string> files(const std::filesystem::path& folder,
                                      const std::string& ending) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (const auto name = entry.path().filename().string(); name.ends_with(ending))
      names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace headcount
