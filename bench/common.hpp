// What the benchmark programs share: models, data, clocks, command lines.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>

#include "model/model.hpp"
#include "task/task.hpp"

namespace headcount::bench {

using Json = nlohmann::ordered_json;

// A model and how much it is fed at once.
struct Workload {
  std::string name;
  ModelConfig model;
  Index length = 0;  // T, of every sequence
  Index batch = 0;   // B, sequences of a step
  int shards = 1;    // that a thread works on, one after the other: less memory, nearer caches

  Index tokens() const { return batch * length; }
};

// char, gpt384 or cls; `dropout` acts on embeddings, patterns and what sublayers add. Throws Error
// (usage) for another name.
Workload workload(const std::string& name, double dropout = 0);
std::vector<std::string> workload_names();

// A language model as large as told, all else as in char.
Workload language_model(int layers, int heads, Index width, Index length, Index batch);

// Of matrix products over `tokens` tokens, as the field counts them: 2 for every weight that takes
// part and token, 4 T D for a token's attention in each layer, masked or not. A training step has
// three times that.
double forward_flops(const Workload& work, Index tokens);

// Uniformly random tokens and targets. Batches are made beforehand; a step copies one.
class RandomTask : public Task {
 public:
  explicit RandomTask(const Workload& work, std::int64_t held_out = 0);

  std::int64_t vocabulary_size() const override { return vocabulary_; }
  std::int64_t longest_sequence() const override { return longest_; }
  std::string text_of(Token token) const override { return std::to_string(token); }
  std::vector<std::string> metrics() const override { return {"nll"}; }
  Batch training_batch(std::uint64_t, std::int64_t step, std::int64_t) const override {
    return batches_[static_cast<std::size_t>(step) % batches_.size()];
  }
  const Split& split(SplitName) const override { return held_out_; }
  std::int64_t characters(const Example&) const override { return 0; }
  std::string data_hash() const override { return "random"; }

 private:
  std::int64_t vocabulary_, longest_;
  std::vector<Batch> batches_;
  Split held_out_;
};

PackedTokens packed(const Batch& batch);

template <class Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Seconds of each of `times` calls of work().
template <class Work>
std::vector<double> seconds_each(int times, const Work& work) {
  std::vector<double> seconds;
  for (int i = 0; i < times; ++i) seconds.push_back(seconds_of(work));
  return seconds;
}

double median(std::vector<double> values);  // of at least one
double smallest(const std::vector<double>& values);

// The slope of log y over log x by least squares: time ∝ size^slope.
double fitted_exponent(const std::vector<double>& sizes, const std::vector<double>& seconds);

double peak_rss_mib();  // VmHWM; NaN where the system does not tell

double rounded(double value, int digits = 4);  // significant ones: what is printed is measured

// Which code ran: "instructions" and "products" (the library of large products).
void add_build(Json& line);

namespace po = boost::program_options;
using Values = po::variables_map;

// The main() of a benchmark: reads options, prints what `run` makes, one JSON object a line; an
// error goes to standard error and ends with its code.
int bench_main(int argc, char** argv, const char* what,
               const std::function<void(po::options_description&)>& add_options,
               const std::function<void(const Values&)>& run);

void print(const Json& line);

// Waits for lines "go N" on standard input, and prints what measure(N) says to each, so that two
// programs can be timed in turns. `hello` comes first. Ends with the input.
void serve(const Json& hello, const std::function<Json(int)>& measure);

// Throws Error (usage) unless the option is at least `least`.
int integer(const Values& values, const char* option, int least = 1);
double dropout_rate(const Values& values);
Precision precision(const Values& values);

}  // namespace headcount::bench
