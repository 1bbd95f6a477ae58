// The time of exact importance: per sequence and head the derivative of the loss with respect to
// the head's gate, patterns copied out.
#include <algorithm>

#include "common.hpp"
#include "fma_peak.hpp"
#include "math/cross_entropy.hpp"
#include "math/thread_team.hpp"

namespace headcount::bench {
namespace {

// Copies the patterns of a shard, head after head.
class PatternCopies : public HeadObserver<float> {
 public:
  explicit PatternCopies(const Model<float>& model) : heads_(&model.heads()) {}
  void begin(Index sequences, Index length) {
    size_ = length * length;
    copies_.resize(static_cast<std::size_t>(sequences * heads_->total() * size_));
  }
  void observe(const HeadObservation<float>& seen) override {
    const Index place = seen.sequence * heads_->total() +
                        heads_->first_index(seen.id.site, seen.id.layer) + seen.id.head;
    const auto length = seen.pattern.cols();
    for (Index row = 0; row < seen.pattern.rows(); ++row)
      std::copy_n(seen.pattern.row(row).data(), length,
                  copies_.data() + place * size_ + row * length);
  }

 private:
  const HeadCounts* heads_;
  Index size_ = 0;
  std::vector<float> copies_;
};

class Importance {
 public:
  // Batches in so many pieces, each of whole sequences.
  Importance(const Workload& work, int threads, int pieces, Precision precision)
      : work_(work),
        precision_(precision),
        model_(work.model),
        parameters_(model_.initial_parameters("normal", 1)),
        treatment_(HeadTreatment<float>::intact(model_.heads())),
        team_(threads),
        total_(Matrix<double>::Zero(1, model_.heads().total())) {
    for (int worker = 0; worker < threads; ++worker)
      workers_.push_back({{}, PatternCopies(model_), {}, {}});
    const RandomTask task(work);
    for (std::int64_t step = 0; step < 8; ++step)
      batches_.push_back(cut_into_shards(task.training_batch(0, step, work.tokens()), pieces));
  }

  void batch() {
    const auto& shards = batches_[next_++ % batches_.size()];
    team_.run(
        static_cast<int>(shards.size()),
        [&](int piece, int worker) {
          score(shards[std::size_t(piece)], workers_[std::size_t(worker)]);
        },
        [&](int, int worker) {
          const auto gates = workers_[std::size_t(worker)].workspace.gate_gradients.view();
          total_ += gates.cast<double>().cwiseAbs().colwise().sum();
        });
  }

 private:
  struct Worker {
    ModelWorkspace<float> workspace;
    PatternCopies patterns;
    std::vector<RowLoss<float>> rows;
    std::vector<float> weights;
  };

  void score(const Batch& shard, Worker& worker) const {
    ModelPass<float> pass;
    pass.treatment = &treatment_;
    pass.gate_gradients = true;
    pass.precision = precision_;
    pass.observer = &worker.patterns;
    worker.patterns.begin(shard.input.count(), work_.length);
    model_.forward(parameters_, packed(shard), pass, worker.workspace);
    const auto targets = shard.target_count() / std::max<std::int64_t>(1, shard.input.count());
    worker.weights.assign(shard.targets.size(), 1.0F / static_cast<float>(targets));
    auto logits = worker.workspace.logits.view();
    cross_entropy<float>(logits, shard.targets, worker.weights.data(), worker.rows);
    model_.backward(parameters_, packed(shard), pass, logits, worker.workspace, nullptr);
  }

  Workload work_;
  Precision precision_;
  Model<float> model_;
  Parameters<float> parameters_;
  HeadTreatment<float> treatment_;
  ThreadTeam team_;
  std::vector<Worker> workers_;
  Matrix<double> total_;  // [1, all heads] Σ |∂loss/∂ξ|
  std::vector<std::vector<Batch>> batches_;
  std::size_t next_ = 0;
};

void run(const Values& values) {
  const int threads = integer(values, "threads"), sequences = integer(values, "sequences");
  auto work = workload(values["config"].as<std::string>());
  if (values.count("batch")) work.batch = integer(values, "batch");
  Importance batches(work, threads, threads, precision(values));
  batches.batch();
  const auto measure = [&](int times) {
    const auto seconds = seconds_each(times, [&] { batches.batch(); });
    return Json{{"ms", rounded(1e3 * median(seconds))},
                {"ms_min", rounded(1e3 * smallest(seconds))},
                {"peak_rss_mib", rounded(peak_rss_mib())}};
  };
  Json line{{"config", work.name},
            {"threads", threads},
            {"precision", values["precision"].as<std::string>()},
            {"batch", work.batch}};
  if (values.count("serve")) {
    serve(line, measure);
    return;
  }
  Importance singles(work, threads, static_cast<int>(work.batch), precision(values));
  singles.batch();
  const double peak_before = fma_peak_gflops(threads);
  std::vector<double> together, alone;
  for (Index done = 0; done < sequences; done += work.batch) {
    together.push_back(seconds_of([&] { batches.batch(); }));
    alone.push_back(seconds_of([&] { singles.batch(); }));
  }
  const double peak = (peak_before + fma_peak_gflops(threads)) / 2;
  const double size = static_cast<double>(work.batch);
  const double flops = 2 * forward_flops(work, work.tokens());  // no gradients of weights
  line["sequences"] = work.batch * std::ssize(together);
  line["s_per_1000"] = rounded(median(together) / size * 1000);
  line["s_per_1000_one_by_one"] = rounded(median(alone) / size * 1000);
  line["gflops"] = rounded(flops / median(together) / 1e9);
  line["peak_gflops"] = rounded(peak);
  line["share_of_peak"] = rounded(flops / median(together) / 1e9 / peak, 3);
  line["peak_rss_mib"] = rounded(peak_rss_mib());
  add_build(line);
  print(line);
}

}  // namespace
}  // namespace headcount::bench

int main(int argc, char** argv) {
  using namespace headcount::bench;
  return bench_main(
      argc, argv,
      "bench/importance: the time of exact gate gradients with patterns copied out, as a JSON line",
      [](po::options_description& options) {
        options.add_options()("config", po::value<std::string>()->default_value("char"),
                              "the model: char, gpt384 or cls")(
            "threads", po::value<int>()->default_value(1), "threads, and shards of a batch")(
            "sequences", po::value<int>()->default_value(200), "that are scored, at least")(
            "precision", po::value<std::string>()->default_value("float32"),
            "of the inputs of large products: float32 or bfloat16")(
            "batch", po::value<int>(), "sequences of a batch instead of the model's own")(
            "serve", "time N batches for every line 'go N' read");
      },
      run);
}
