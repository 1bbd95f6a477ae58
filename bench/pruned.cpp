// The time of a forward pass when heads are gone, against what the arithmetic allows.
#include <memory>

#include "common.hpp"

namespace headcount::bench {
namespace {

// A quarter of the heads more from row to row, evenly over the layers.
Model<float> without_share(const Model<float>& model, int percent) {
  const auto& layers = model.config().original.layers(model.config().site);
  std::vector<HeadId> gone;
  int wanted = 0, heads = 0;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    heads += layers[layer];
    const int before = wanted;
    wanted = heads * percent / 100;
    for (int head = 0; head < wanted - before; ++head)
      gone.push_back({model.config().site, static_cast<int>(layer), head});
  }
  return model.without(gone);
}

// A model with some heads gone and a batch for it.
class Pass {
 public:
  Pass(Workload work, const Model<float>& model, int percent, Index batch)
      : removed(percent),
        model_(without_share(model, percent)),
        parameters_(model_.initial_parameters("normal", 1)),
        treatment_(HeadTreatment<float>::intact(model_.heads())) {
    work.batch = batch;
    work.model = model_.config();
    batch_ = RandomTask(work).training_batch(0, 0, work.tokens());
    flops = forward_flops(work, work.tokens());
    pass_.treatment = &treatment_;
    pass_.backward_follows = false;
    forward();
  }
  void forward() { model_.forward(parameters_, packed(batch_), pass_, workspace_); }

  int removed;
  double flops = 0;
  std::vector<double> seconds;

 private:
  Model<float> model_;
  Parameters<float> parameters_;
  HeadTreatment<float> treatment_;
  ModelPass<float> pass_;
  ModelWorkspace<float> workspace_;
  Batch batch_;
};

void run(const Values& values) {
  const auto work = workload(values["config"].as<std::string>());
  const int rounds = integer(values, "rounds");
  const Model<float> whole(work.model);
  for (const Index batch : {1, 16, 64}) {
    std::vector<std::unique_ptr<Pass>> passes;
    for (const int percent : {0, 25, 50, 75})
      passes.push_back(std::make_unique<Pass>(work, whole, percent, batch));
    for (int round = 0; round < rounds; ++round)
      for (auto& pass : passes) pass->seconds.push_back(seconds_of([&] { pass->forward(); }));
    const double intact = median(passes[0]->seconds), intact_flops = passes[0]->flops;
    for (const auto& pass : passes) {
      const double seconds = median(pass->seconds);
      const double speedup = intact / seconds, bound = intact_flops / pass->flops;
      Json line{{"config", work.name},
                {"batch", batch},
                {"removed_percent", pass->removed},
                {"ms", rounded(1e3 * seconds)},
                {"speedup", rounded(speedup)},
                {"bound", rounded(bound)},
                {"share_of_bound", rounded(speedup / bound)}};
      add_build(line);
      print(line);
    }
  }
}

}  // namespace
}  // namespace headcount::bench

int main(int argc, char** argv) {
  using namespace headcount::bench;
  return bench_main(
      argc, argv,
      "bench/pruned: forward passes with 0 to 75 % of the heads removed, as JSON lines\n"
      "bound: how many times less arithmetic is left; speedup: how many times less time it takes",
      [](po::options_description& options) {
        options.add_options()("config", po::value<std::string>()->default_value("char"),
                              "the model: char, gpt384 or cls")(
            "rounds", po::value<int>()->default_value(15), "of which the median is taken");
      },
      run);
}
