// How fast the kernels are at the sizes the models use them in, beside plain ones: the portable
// table, and Eigen for large products.
#include "math/kernels/kernels.hpp"

#include <algorithm>
#include <functional>

#include "common.hpp"
#include "math/product.hpp"

namespace headcount::bench {
namespace {

using Table = Kernels<float>;

// A few numbers again and again: drawing them all would take longer than the kernels.
Matrix<float> random(Index rows, Index cols) {
  static const std::vector<float> numbers = [] {
    RandomStream stream(1, Purpose::synthetic_data, 0, 0);
    std::vector<float> drawn(4099);
    for (auto& number : drawn) number = static_cast<float>(2 * stream.uniform() - 1);
    return drawn;
  }();
  Matrix<float> matrix(rows, cols);
  for (Index i = 0; i < matrix.size(); ++i)
    matrix.data()[i] = numbers[static_cast<std::size_t>(i) % numbers.size()];
  return matrix;
}

Rows<float> rows(Matrix<float>& x) { return {x.data(), x.rows(), x.cols(), x.cols()}; }
Rows<const float> rows(const Matrix<float>& x) { return {x.data(), x.rows(), x.cols(), x.cols()}; }

// Seconds of one call: the median of a few tries of at least so many seconds each.
double seconds_a_call(const std::function<void()>& call, double seconds) {
  call();
  const double once = seconds_of(call);
  const int calls = std::max(1, static_cast<int>(seconds / std::max(once, 1e-9)));
  const auto many = [&] {
    for (int i = 0; i < calls; ++i) call();
  };
  return median(seconds_each(5, many)) / calls;
}

// What a workload's matrices are like: N, D, F, V, T, K.
struct Sizes {
  Index n, d, f, v, t, k;
  Visible visible;
  double visible_entries;  // of a pattern
};

Sizes sizes_of(const Workload& work) {
  const auto& model = work.model;
  Sizes s{work.tokens(),
          model.width,
          model.feed_forward.at(0),
          model.classes > 0 ? model.classes : model.vocabulary,
          work.length,
          model.head_widths[0],
          {},
          0};
  s.visible =
      model.mask == AttentionMask::causal ? Visible::up_to_itself(s.t, s.t) : Visible::all(s.t);
  for (Index query = 0; query < s.t; ++query)
    s.visible_entries += static_cast<double>(s.visible.keys_of(query));
  return s;
}

class Report {
 public:
  Report(std::string config, double seconds, std::string only)
      : config_(std::move(config)), seconds_(seconds), only_(std::move(only)) {}

  // How many operations or elements of a call are done in a second, by both versions.
  void compare(const std::string& name, const char* unit, double amount,
               const std::function<void()>& fast, const std::function<void()>& plain) const {
    if (name.find(only_) == std::string::npos) return;
    const auto rate = [&](const auto& call) {
      return rounded(amount / seconds_a_call(call, seconds_) / 1e9);
    };
    Json line{{"kernel", name}, {"config", config_}};
    line[unit] = rate(fast);
    line["plain_" + std::string(unit)] = rate(plain);
    add_build(line);
    print(line);
  }

  // A kernel of the fastest table and of the portable one.
  void kernel(const std::string& name, const char* unit, double amount,
              const std::function<void(const Table&)>& call) const {
    compare(
        name, unit, amount, [&] { call(kernels<float>()); },
        [&] { call(*kernel_levels().back()); });
  }
  void elements(const std::string& name, Index count,
                const std::function<void(const Table&)>& call) const {
    kernel(name, "gelements_s", static_cast<double>(count), call);
  }

 private:
  std::string config_;
  double seconds_;
  std::string only_;
};

// x [N, D] · w [D, F] = y, and the two products of its backward pass.
void products(const Report& report, const Sizes& s) {
  auto x = random(s.n, s.d), w = random(s.d, s.f), y = random(s.n, s.f);
  const double flops = 2.0 * static_cast<double>(s.n * s.d * s.f);
  for (const auto precision : {Precision::float32, Precision::bfloat16}) {
    Rounding<float> rounding_x, rounding_w, rounding_y;
    const auto from_x = rounding_x.of(precision, x), from_w = rounding_w.of(precision, w);
    const auto from_y = rounding_y.of(precision, y);
    const auto name = [&](const char* product) {
      return fmt::format("{} {}", product, name_of(precision));
    };
    report.compare(
        name("product"), "gflops", flops, [&] { product<float>(from_x, from_w, y); },
        [&] { y.noalias() = x * w; });
    report.compare(
        name("product_bt"), "gflops", flops, [&] { product_bt<float>(from_y, from_w, x); },
        [&] { x.noalias() = y * w.transpose(); });
    report.compare(
        name("product_at"), "gflops", flops, [&] { product_at<float>(from_x, from_y, w); },
        [&] { w.noalias() = x.transpose() * y; });
  }
}

// Numbers are such that what is done in place again and again stays finite.
void of_rows(const Report& report, const Sizes& s) {
  auto wide = random(s.n, s.f), slope = random(s.n, s.f), row = random(1, s.f);
  report.elements("add_row", wide.size(), [&](auto& k) { k.add_row(row.data(), rows(wide)); });
  report.elements("add_column_sums", wide.size(),
                  [&](auto& k) { k.add_column_sums(rows(std::as_const(wide)), row.data()); });
  row = random(1, s.f);
  const auto inputs = random(s.n, s.f);
  for (const auto& [kind, name] : {std::pair{Activation::relu, "relu"},
                                   {Activation::gelu, "gelu"},
                                   {Activation::gelu_tanh, "gelu-tanh"}})
    report.elements(fmt::format("activate {}", name), wide.size(), [&, kind = kind](auto& k) {
      wide = inputs;  // else it would sink to denormal numbers
      k.activate(kind, row.data(), rows(wide), rows(slope), nullptr);
    });
  slope.setOnes();
  report.elements("multiply", wide.size(), [&](auto& k) {
    k.multiply(rows(std::as_const(slope)), rows(wide), row.data(), nullptr);
  });
  std::vector<std::uint16_t> half(static_cast<std::size_t>(wide.size()));
  report.elements("to_bfloat16", wide.size(),
                  [&](auto& k) { k.to_bfloat16(rows(std::as_const(wide)), half.data()); });

  auto x = random(s.n, s.d), y = random(s.n, s.d), normalized = random(s.n, s.d);
  auto gain = random(1, s.d), bias = random(1, s.d), deviation = random(s.n, 1);
  const auto dropout = Dropout{0.1, 1, 1}.source(1, 0);
  report.elements("drop", x.size(),
                  [&](auto& k) { k.drop(dropout, rows(std::as_const(x)), rows(y)); });
  report.elements("add_dropped", x.size(),
                  [&](auto& k) { k.add_dropped(dropout, rows(std::as_const(x)), rows(y)); });
  report.elements("layer_norm", x.size(), [&](auto& k) {
    k.normalize(NormKind::layer, rows(std::as_const(x)), gain.data(), bias.data(), 1e-5F,
                rows(normalized), deviation.data(), rows(y));
  });
  auto d_gain = random(1, s.d), d_bias = random(1, s.d);
  report.elements("layer_norm_backward", x.size(), [&](auto& k) {
    k.normalize_backward(NormKind::layer, rows(std::as_const(y)), gain.data(),
                         rows(std::as_const(normalized)), deviation.data(), rows(x), d_gain.data(),
                         d_bias.data());
  });
  auto logits = random(s.n, s.v);
  report.elements("softmax", logits.size(), [&](auto& k) {
    for (Index i = 0; i < logits.rows(); ++i) k.softmax(logits.row(i).data(), logits.cols());
  });
}

// One update of all the parameters of a model.
void update(const Report& report, Index parameters) {
  auto values = random(1, parameters), gradient = random(1, parameters);
  Matrix<float> first = gradient, second = gradient.cwiseAbs2();
  const AdamWStep<float> step{0.9F, 0.1F, 0.999F, 0.001F, 1, 1e-3F, 1, 1e-8F, 0.9999F};
  report.elements("adamw", parameters, [&](auto& k) {
    k.adamw(step, gradient.data(), first.data(), second.data(), values.data(), values.size());
  });
}

// One head of one sequence. Operations are counted over what is visible.
void one_head(const Report& report, const Sizes& s) {
  const auto queries = random(s.t, s.k), keys = random(s.t, s.k), values = random(s.t, s.k);
  const auto d_context = random(s.t, s.k);
  auto context = random(s.t, s.k), d_queries = context, d_keys = context, d_values = context;
  auto pattern = random(s.t, s.t), d_pattern = random(s.t, s.t);
  Matrix<float> log_sums = Matrix<float>::Constant(1, s.t, 4);
  std::vector<float> work(static_cast<std::size_t>(work_size(s.t, s.k)));
  const float scale = 1 / std::sqrt(static_cast<float>(s.k));
  const Visible visible = s.visible;
  const double flops = 2 * s.visible_entries * static_cast<double>(s.k);
  const DropoutSource none;

  const auto scores = [&](auto& k) {
    k.scores(rows(queries), rows(keys), scale, visible, rows(pattern), work.data());
  };
  const auto mix = [&](auto& k) {
    k.mix(rows(std::as_const(pattern)), rows(values), 1, visible, rows(context));
  };
  const auto mix_back = [&](auto& k) {
    k.mix_back(rows(std::as_const(pattern)), rows(d_context), 1, visible, rows(d_values));
  };
  const auto make_pattern = [&](auto& k) {
    k.pattern(visible, none, rows(pattern), log_sums.data(), 1);
  };
  const auto pattern_back = [&](auto& k) {
    k.pattern_back(visible, none, rows(d_context), rows(std::as_const(context)), log_sums.data(), 1,
                   rows(pattern), rows(d_pattern));
  };
  const auto entries = static_cast<Index>(s.visible_entries);
  report.kernel("head scores", "gflops", flops, scores);
  report.kernel("head mix", "gflops", flops, mix);
  report.kernel("head mix_back", "gflops", flops, mix_back);
  report.elements("head pattern", entries, make_pattern);
  report.elements("head pattern_back", entries, pattern_back);
  report.kernel("head forward", "gflops", 2 * flops, [&](auto& k) {
    scores(k);
    make_pattern(k);
    mix(k);
  });
  report.kernel("head backward", "gflops", 5 * flops, [&](auto& k) {
    scores(k);
    k.scores(rows(d_context), rows(values), 1, visible, rows(d_pattern), work.data());
    pattern_back(k);
    mix_back(k);
    k.mix(rows(std::as_const(d_pattern)), rows(keys), scale, visible, rows(d_queries));
    k.mix_back(rows(std::as_const(d_pattern)), rows(queries), scale, visible, rows(d_keys));
  });
}

void run(const Values& values) {
  const double seconds = values["seconds"].as<double>();
  for (const auto& name : workload_names()) {
    const auto work = workload(name);
    const auto sizes = sizes_of(work);
    const Report report(name, seconds, values["only"].as<std::string>());
    products(report, sizes);
    of_rows(report, sizes);
    update(report, Model<float>(work.model).layout().size());
    one_head(report, sizes);
  }
}

}  // namespace
}  // namespace headcount::bench

int main(int argc, char** argv) {
  using namespace headcount::bench;
  return bench_main(
      argc, argv,
      "bench/kernels: the float kernels at the sizes of char, gpt384 and cls, as JSON lines\n"
      "plain: Eigen for products, the portable table for all else",
      [](po::options_description& options) {
        options.add_options()("seconds", po::value<double>()->default_value(0.05),
                              "of each of five tries")(
            "only", po::value<std::string>()->default_value(""), "kernels with this in their name");
      },
      run);
}
