// The time of one training step.
#include "fma_peak.hpp"
#include "training.hpp"

namespace headcount::bench {
namespace {

void run(const Values& values) {
  const double dropout = dropout_rate(values);
  const int threads = integer(values, "threads"), steps = integer(values, "steps");
  auto work = workload(values["config"].as<std::string>(), dropout);
  if (values.count("batch")) work.batch = integer(values, "batch");
  if (values.count("shards")) work.shards = integer(values, "shards");

  Training training(work, threads, precision(values));
  constexpr int kWarmUp = 3;
  for (int i = 0; i < kWarmUp; ++i) training.step();
  const auto measure = [&](int times) {
    const auto seconds = seconds_each(times, [&] { training.step(); });
    return Json{{"ms", rounded(1e3 * median(seconds))},
                {"ms_min", rounded(1e3 * smallest(seconds))},
                {"peak_rss_mib", rounded(peak_rss_mib())}};
  };
  Json line{{"config", work.name}, {"threads", threads},
            {"dropout", dropout},  {"precision", values["precision"].as<std::string>()},
            {"batch", work.batch}, {"shards", threads * work.shards}};
  if (values.count("serve")) {
    serve(line, measure);
    return;
  }
  const double peak_before = fma_peak_gflops(threads);
  const Json times = measure(steps);
  const double peak = (peak_before + fma_peak_gflops(threads)) / 2;
  const double ms = times["ms"], flops = 3 * forward_flops(work, work.tokens());
  line["ms_step"] = ms;
  line["ms_min"] = times["ms_min"];
  line["tokens_s"] = rounded(static_cast<double>(work.tokens()) / ms * 1e3);
  line["gflop_step"] = rounded(flops / 1e9);
  line["gflops"] = rounded(flops / ms / 1e6);
  line["peak_gflops"] = rounded(peak);
  line["share_of_peak"] = rounded(flops / ms / 1e6 / peak, 3);
  line["peak_rss_mib"] = times["peak_rss_mib"];
  add_build(line);
  print(line);
}

}  // namespace
}  // namespace headcount::bench

int main(int argc, char** argv) {
  using namespace headcount::bench;
  return bench_main(
      argc, argv, "bench/step: the time of one training step, as a JSON line",
      [](po::options_description& options) {
        options.add_options()("config", po::value<std::string>()->default_value("char"),
                              "the model: char, gpt384 or cls")(
            "threads", po::value<int>()->default_value(1), "threads")(
            "shards", po::value<int>(), "of a batch for each thread, instead of the model's own")(
            "dropout", po::value<double>()->default_value(0),
            "rate on embeddings, patterns and sublayers")(
            "steps", po::value<int>()->default_value(20), "steps that are timed")(
            "precision", po::value<std::string>()->default_value("float32"),
            "of the inputs of large products: float32 or bfloat16")(
            "batch", po::value<int>(), "sequences of a step instead of the model's own")(
            "serve", "time N steps for every line 'go N' read");
      },
      run);
}
