// The time of ablating every head of a model of 6 layers of 4 heads, in forward passes.
#include "common.hpp"
#include "measure/measure.hpp"

namespace headcount::bench {
namespace {

void run(const Values& values) {
  const int sequences = integer(values, "sequences"), rounds = integer(values, "rounds");
  const int threads = integer(values, "threads");
  const auto work = language_model(6, 4, 128, 64, sequences);
  const RandomTask task(work, sequences);
  const Model<float> model(work.model);
  const auto parameters = model.initial_parameters("normal", 1);
  const auto intact = HeadTreatment<float>::intact(model.heads());
  ThreadTeam team(threads);
  const Evaluator<float> evaluator(model, parameters, task, SplitName::validation, 0, team);
  const auto pass = [&] { evaluator.run(intact); };
  const auto ablate = [&] {
    measure_heads<float>({"importance.ablation"}, MeasureInput<float>::of(evaluator, intact));
  };
  pass();
  std::vector<double> passes, ablations, ratios;
  for (int round = 0; round < rounds; ++round) {
    // Before and after: the machine may be slower for a while.
    const double before = seconds_of(pass);
    ablations.push_back(seconds_of(ablate));
    passes.push_back((before + seconds_of(pass)) / 2);
    ratios.push_back(ablations.back() / passes.back());
  }
  Json line{{"heads", model.heads().total()},
            {"sequences", sequences},
            {"threads", threads},
            {"pass_ms", rounded(1e3 * median(passes))},
            {"ablation_ms", rounded(1e3 * median(ablations))},
            {"passes", rounded(median(ratios))}};
  add_build(line);
  print(line);
}

}  // namespace
}  // namespace headcount::bench

int main(int argc, char** argv) {
  using namespace headcount::bench;
  return bench_main(
      argc, argv,
      "bench/ablation: importance.ablation of 24 heads, in forward passes, as a JSON line",
      [](po::options_description& options) {
        options.add_options()("sequences", po::value<int>()->default_value(128),
                              "of 64 tokens that are scored")(
            "rounds", po::value<int>()->default_value(5), "of which the median is taken")(
            "threads", po::value<int>()->default_value(1), "");
      },
      run);
}
