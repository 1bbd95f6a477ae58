// How the time of a training step grows with length, heads, layers and width.
#include <memory>

#include "training.hpp"

namespace headcount::bench {
namespace {

struct Sweep {
  const char* over;
  std::vector<int> values;
  Workload (*work)(int value, int tokens);
};

std::vector<Sweep> sweeps() {
  return {{"length",
           {32, 64, 128, 256, 512, 1024},
           [](int t, int tokens) { return language_model(2, 4, 128, t, tokens / t); }},
          {"heads",
           {1, 2, 4, 8, 16, 32},
           [](int h, int tokens) { return language_model(2, h, 256, 64, tokens / 64); }},
          {"layers",
           {1, 2, 4, 8},
           [](int l, int tokens) { return language_model(l, 4, 128, 64, tokens / 64); }},
          {"width", {64, 128, 256, 512}, [](int d, int tokens) {
             return language_model(2, 4, d, 64, tokens / 64);
           }}};
}

void run(const Values& values) {
  const int tokens = integer(values, "tokens", 1024), rounds = integer(values, "rounds");
  for (const auto& sweep : sweeps()) {
    std::vector<std::unique_ptr<Training>> trainings;
    std::vector<double> sizes, times, gflops;
    for (const int value : sweep.values) {
      trainings.push_back(std::make_unique<Training>(sweep.work(value, tokens), 1));
      trainings.back()->step();
      sizes.push_back(value);
    }
    std::vector<std::vector<double>> seconds(sizes.size());
    for (int round = 0; round < rounds; ++round)
      for (std::size_t i = 0; i < sizes.size(); ++i)
        seconds[i].push_back(seconds_of([&] { trainings[i]->step(); }));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto work = sweep.work(sweep.values[i], tokens);
      times.push_back(rounded(1e3 * median(seconds[i])));
      gflops.push_back(rounded(3 * forward_flops(work, work.tokens()) / median(seconds[i]) / 1e9));
    }
    Json line{{"over", sweep.over},
              {"values", sweep.values},
              {"ms_step", times},
              {"gflops", gflops},
              {"exponent", rounded(fitted_exponent(sizes, times), 3)},
              {"tokens", tokens}};
    add_build(line);
    print(line);
  }
}

}  // namespace
}  // namespace headcount::bench

int main(int argc, char** argv) {
  using namespace headcount::bench;
  return bench_main(
      argc, argv,
      "bench/scaling: the time of a training step over length, heads, layers and width, on one "
      "thread,\neach with the exponent of a power law fitted by least squares, as JSON lines",
      [](po::options_description& options) {
        options.add_options()("tokens", po::value<int>()->default_value(2048),
                              "of a step, whatever else changes; at least 1024")(
            "rounds", po::value<int>()->default_value(5), "of which the median is taken");
      },
      run);
}
