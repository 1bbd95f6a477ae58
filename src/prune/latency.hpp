#pragma once

#include <cstdint>
#include <vector>

#include "attention/sites.hpp"
#include "attention/treatment.hpp"
#include "model/model.hpp"
#include "task/task.hpp"

namespace headcount {

// The middle of repeated measurements, and the distance between their quartiles.
struct Spread {
  double median = 0, range = 0;
};
Spread spread_of(std::vector<double> values);  // quartiles by linear interpolation; NaN for none

// How long forward passes of a physically smaller model take beside those of the model it was made
// from, on one thread.
struct Latency {
  std::int64_t sequences = 0;  // in one pass
  std::int64_t repetitions = 0;
  Spread intact, smaller;  // seconds
  Spread ratio;            // smaller / intact, of pairs of passes that followed each other
  double flops_ratio = 0;  // the same of the arithmetic in their matrix products
};

struct LatencyOptions {
  int repetitions = 0;  // of a pair of passes at most; 3 at least
  double seconds = 0;   // that all repetitions of one number of sequences should not exceed
};

// For 1, 16 and 64 sequences, those at the start of the examples, as many as there are examples and
// a pass of them is short enough. Passes alternate after a first of each; masks in force stay so.
template <class Real>
std::vector<Latency> measure_latency(const Model<Real>& model, const Parameters<Real>& parameters,
                                     const std::vector<HeadId>& gone,
                                     const HeadTreatment<Real>& treatment,
                                     const std::vector<Example>& examples,
                                     const LatencyOptions& options);

}  // namespace headcount
