#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "run/work.hpp"

namespace headcount {

// How fast this binary works on this machine: seconds on one thread for a unit of every feature.
struct Calibration {
  std::array<double, kFeatures> seconds{};

  double rate(Feature feature) const { return seconds.at(static_cast<std::size_t>(feature)); }
  double time(const Work& work) const;  // seconds
};

// A small model to be timed on made-up text.
struct ProbeModel {
  Index width = 64;
  int heads = 4;
  Index block = 64;  // T
  int layers = 1;
  Index tokens = 1024;  // of a training batch; twice as many are held out
  Index vocabulary = 96;
  Activation activation = Activation::gelu;
  double dropout = 0;      // on the stream and on patterns
  Index feed_forward = 4;  // times the width
  int shards = 2;
  Precision precision = Precision::float32;  // of training
};
const std::vector<ProbeModel>& calibration_grid();

// One timed piece of work: "train D=64 H=4 T=64 L=1".
struct Probe {
  std::string name;
  Work work;
  double seconds = 0;  // CPU time of its thread; the median over rounds
};

// Trains, evaluates and measures the models of the grid in turn, round after round: a first that
// only warms up, then at least three, and no new one after so many seconds.
std::vector<Probe> run_probes(double seconds,
                              const std::vector<ProbeModel>& grid = calibration_grid());

// The non-negative rates with the least squared relative errors over the probes.
Calibration fit(const std::vector<Probe>& probes);

// Where the calibration of this user's machine lies.
std::filesystem::path calibration_path();

// Together with what it holds for: build and processor. Errors: those of publish_file.
void write_calibration(const Calibration& calibration, const std::filesystem::path& path);

// Throws Error: no_input where there is none, bad_data where the file is broken or was measured
// with another build or on another processor.
Calibration read_calibration(const std::filesystem::path& path);

}  // namespace headcount
