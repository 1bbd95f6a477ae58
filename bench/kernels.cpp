// How fast the kernels of src/math are at the sizes the models use them in, and one layer of
// attention.
#include <functional>

#include "attention/multi_head.hpp"
#include "common.hpp"
#include "math/activation.hpp"
#include "math/layer_norm.hpp"
#include "math/product.hpp"
#include "math/reduce.hpp"
#include "math/softmax.hpp"
#include "train/adamw.hpp"

namespace headcount::bench {
namespace {

using Real = float;

// One call, how much it does, and the same by a plain version where there is one.
struct Kernel {
  std::string name;
  double amount = 0;  // operations or elements of a call
  bool elements = false;
  std::function<void()> fast, plain;
};

// A few numbers again and again: drawing them all would take longer than the kernels.
Matrix<Real> random(Index rows, Index cols) {
  static const std::vector<Real> numbers = [] {
    RandomStream stream(1, Purpose::synthetic_data, 0, 0);
    std::vector<Real> drawn(4099);
    for (auto& number : drawn) number = static_cast<Real>(2 * stream.uniform() - 1);
    return drawn;
  }();
  Matrix<Real> matrix(rows, cols);
  for (Index i = 0; i < matrix.size(); ++i)
    matrix.data()[i] = numbers[static_cast<std::size_t>(i) % numbers.size()];
  return matrix;
}

// The median of a few tries of at least so many seconds each; of one call.
double seconds_a_call(const std::function<void()>& call, double seconds) {
  call();
  const double once = seconds_of(call);
  const int calls = std::max(1, static_cast<int>(seconds / std::max(once, 1e-9)));
  const auto many = [&] {
    for (int i = 0; i < calls; ++i) call();
  };
  return median(seconds_each(5, many)) / calls;
}

// What a workload's matrices look like.
struct Sizes {
  Index n, d, f, v, t;  // tokens, width, feed-forward, vocabulary, length
};

std::vector<Kernel> products(const Sizes& s) {
  const double flops = 2.0 * static_cast<double>(s.n * s.d * s.f);
  std::vector<Kernel> all;
  // x [N, D] · w [D, F] and the two products of its backward pass.
  all.push_back({"product", flops, false,
                 [x = random(s.n, s.d), w = random(s.d, s.f),
                  y = Matrix<Real>(s.n, s.f)]() mutable { product<Real>(x, w, y); },
                 [x = random(s.n, s.d), w = random(s.d, s.f),
                  y = Matrix<Real>(s.n, s.f)]() mutable { y.noalias() = x * w; }});
  all.push_back({"product_bt", flops, false,
                 [y = random(s.n, s.f), w = random(s.d, s.f),
                  x = Matrix<Real>(s.n, s.d)]() mutable { product_bt<Real>(y, w, x); },
                 [y = random(s.n, s.f), w = random(s.d, s.f),
                  x = Matrix<Real>(s.n, s.d)]() mutable { x.noalias() = y * w.transpose(); }});
  all.push_back({"product_at", flops, false,
                 [x = random(s.n, s.d), y = random(s.n, s.f),
                  w = Matrix<Real>(s.d, s.f)]() mutable { product_at<Real>(x, y, w); },
                 [x = random(s.n, s.d), y = random(s.n, s.f),
                  w = Matrix<Real>(s.d, s.f)]() mutable { w.noalias() = x.transpose() * y; }});
  return all;
}

std::vector<Kernel> by_element(const Sizes& s) {
  std::vector<Kernel> all;
  const auto add = [&](std::string name, Index elements, std::function<void()> call) {
    all.push_back({std::move(name), static_cast<double>(elements), true, std::move(call), {}});
  };
  add("add_to_rows", s.n * s.f,
      [x = random(s.n, s.f), b = random(1, s.f)]() mutable { add_to_rows<Real>(b, x); });
  add("add_column_sums", s.n * s.f,
      [x = random(s.n, s.f), b = random(1, s.f)]() mutable { add_column_sums<Real>(x, b); });
  for (const auto activation : {Activation::relu, Activation::gelu, Activation::gelu_tanh}) {
    add(fmt::format("activate {}", name_of(activation)), s.n * s.f,
        [activation, x = random(s.n, s.f), y = Matrix<Real>(s.n, s.f)]() mutable {
          activate<Real>(activation, x, y);
        });
    add(fmt::format("activate_backward {}", name_of(activation)), s.n * s.f,
        [activation, x = random(s.n, s.f), y = random(s.n, s.f), d = Matrix<Real>()]() mutable {
          d = y;  // else it would run to 0 or ∞ from call to call
          activate_backward<Real>(activation, x, d);
        });
  }
  add("softmax", s.n * s.t, [x = random(s.n, s.t)]() mutable {
    for (Index row = 0; row < x.rows(); ++row) softmax_in_place(x.row(row).data(), x.cols());
  });
  add("softmax_again", s.n * s.t, [x = random(s.n, s.t), y = Matrix<Real>()]() mutable {
    y = x;
    for (Index row = 0; row < y.rows(); ++row) softmax_again(y.row(row).data(), y.cols(), Real{4});
  });
  std::vector<std::int32_t> targets;
  for (Index i = 0; i < s.n; ++i) targets.push_back(static_cast<std::int32_t>(i % s.v));
  add("cross_entropy", s.n * s.v,
      [x = random(s.n, s.v), y = Matrix<Real>(), targets,
       weights = std::vector<Real>(targets.size(), 1),
       rows = std::vector<RowLoss<Real>>()]() mutable {
        y = x;
        cross_entropy<Real>(y, targets, weights.data(), rows);
      });
  add("layer_norm", s.n * s.d,
      [x = random(s.n, s.d), gain = random(1, s.d), bias = random(1, s.d),
       normalized = Matrix<Real>(s.n, s.d), deviation = Matrix<Real>(s.n, 1),
       y = Matrix<Real>(s.n, s.d)]() mutable {
        layer_norm<Real>(x, gain, bias, normalized, deviation, y);
      });
  add("layer_norm_backward", s.n * s.d,
      [d_y = random(s.n, s.d), gain = random(1, s.d), normalized = random(s.n, s.d),
       deviation = Matrix<Real>(Matrix<Real>::Ones(s.n, 1)), d_x = random(s.n, s.d),
       d_gain = random(1, s.d), d_bias = random(1, s.d)]() mutable {
        MatrixRef<Real> gains = d_gain, biases = d_bias;
        layer_norm_backward<Real>(d_y, gain, normalized, deviation, d_x, &gains, &biases);
      });
  add("dropout", s.n * s.d, [x = random(s.n, s.d)]() mutable {
    const Dropout dropout{0.1, 1, 1};
    x.setOnes();
    dropout.apply<Real>(x, 1, 0);
  });
  add("variance", s.n * s.d,
      [x = random(s.n, s.d), sum = 0.0]() mutable { sum += variance<Real>(x); });
  return all;
}

// One update of all the parameters of a model.
Kernel update(const Workload& work) {
  struct State {
    explicit State(const ModelConfig& config)
        : model(config),
          parameters(model.initial_parameters("normal", 1)),
          gradient(model.initial_parameters("normal", 2)),
          adamw({}, model.layout()) {}
    Model<Real> model;
    Parameters<Real> parameters, gradient;
    AdamW<Real> adamw;
    std::int64_t step = 0;
  };
  const auto state = std::make_shared<State>(work.model);
  return {
      "adamw",
      static_cast<double>(state->parameters.size()),
      true,
      [state] { state->adamw.update(state->parameters, state->gradient, 1, 1e-6, ++state->step); },
      {}};
}

// One layer of attention, projections included, on a batch.
struct Layer {
  explicit Layer(const Workload& work)
      : model(work.model),
        parameters(model.initial_parameters("normal", 1)),
        treatment(HeadTreatment<Real>::intact(model.heads())),
        batch(RandomTask(work).training_batch(0, 0, work.tokens())),
        x(random(work.tokens(), work.model.width)),
        y(x.rows(), x.cols()),
        d_x(x.rows(), x.cols()),
        gradient(model.layout()) {
    pass.treatment = &treatment;
  }
  AttentionInput<Real> input() const {
    const ConstMatrixView<Real> view(x.data(), x.rows(), x.cols(), Eigen::OuterStride<>(x.cols()));
    return {view, view, batch.input.offsets, batch.input.offsets};
  }
  const MultiHeadAttention<Real>& attention() const {
    return model.attention(model.config().site, 0);
  }
  void forward() { attention().forward(parameters, input(), pass, cache, scratch, y); }
  void backward() {
    Matrix<Real> none, gates;
    attention().backward(parameters, input(), pass, cache, scratch, y, d_x, none, &gradient, gates);
  }

  Model<Real> model;
  Parameters<Real> parameters;
  HeadTreatment<Real> treatment;
  Batch batch;
  Matrix<Real> x, y, d_x;
  Parameters<Real> gradient;
  AttentionPass<Real> pass;
  MultiHeadAttention<Real>::Cache cache;
  MultiHeadAttention<Real>::Scratch scratch;
};

std::vector<Kernel> attention(Workload work) {
  const auto layer = std::make_shared<Layer>(work);
  const double n = static_cast<double>(work.tokens()), d = static_cast<double>(work.model.width);
  const double flops = n * (8 * d * d + 4 * static_cast<double>(work.length) * d);
  return {{"attention forward", flops, false, [layer] { layer->forward(); }, {}},
          {"attention backward", 2 * flops, false, [layer] { layer->backward(); }, {}}};
}

void run(const Values& values) {
  const double seconds = values["seconds"].as<double>();
  const auto only = values["only"].as<std::string>();
  for (const auto& name : workload_names()) {
    const auto work = workload(name);
    const auto& model = work.model;
    const Sizes sizes{work.tokens(), model.width, model.feed_forward,
                      model.classes > 0 ? model.classes : model.vocabulary, work.length};
    auto all = products(sizes);
    for (auto& kernel : by_element(sizes)) all.push_back(std::move(kernel));
    all.push_back(update(work));
    for (auto& kernel : attention(work)) all.push_back(std::move(kernel));
    for (const auto& kernel : all) {
      if (kernel.name.find(only) == std::string::npos) continue;
      const char* unit = kernel.elements ? "gelements_s" : "gflops";
      const auto rate = [&](const std::function<void()>& call) {
        return rounded(kernel.amount / seconds_a_call(call, seconds) / 1e9);
      };
      Json line{{"kernel", kernel.name}, {"config", name}, {unit, rate(kernel.fast)}};
      if (kernel.plain) line["plain_" + std::string(unit)] = rate(kernel.plain);
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
      "bench/kernels: the float kernels at the sizes of char, gpt384 and cls, as JSON lines",
      [](po::options_description& options) {
        options.add_options()("seconds", po::value<double>()->default_value(0.05),
                              "of each of five tries")(
            "only", po::value<std::string>()->default_value(""), "kernels with this in their name");
      },
      run);
}
