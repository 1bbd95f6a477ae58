#include "math/kernels/kernels.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "../plain.hpp"
#include "catch.hpp"
#include "support/matrices.hpp"

using namespace headcount;
using namespace headcount::test;
using plain::M;

namespace {

using F = Matrix<float>;

constexpr std::array<Index, 16> kSizes{1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 129, 200};
constexpr float kHole = -777;  // stands around every view and must stay

// A view of `values` with rows further apart than they are long and at an odd address.
class Strided {
 public:
  explicit Strided(const M& values, Index shift = 1)
      : rows_(values.rows()),
        cols_(values.cols()),
        shift_(shift),
        memory_(F::Constant(rows_ + 2, cols_ + shift + 5, kHole)) {
    memory_.block(1, shift, rows_, cols_) = values.cast<float>();
  }
  Rows<float> view() { return {memory_.data() + start(), rows_, cols_, memory_.cols()}; }
  Rows<const float> read() const {
    return {memory_.data() + start(), rows_, cols_, memory_.cols()};
  }
  M values() const { return memory_.block(1, shift_, rows_, cols_).cast<double>(); }
  bool surroundings_untouched() const {
    F copy = memory_;
    copy.block(1, shift_, rows_, cols_).setConstant(kHole);
    return (copy.array() == kHole).all();
  }

 private:
  Index start() const { return memory_.cols() + shift_; }
  Index rows_, cols_, shift_;
  F memory_;
};

M exact(const M& x) { return x.cast<float>().cast<double>(); }
M random(Index rows, Index cols, std::uint32_t seed, double scale = 1) {
  return exact(random_matrix<double>(rows, cols, seed, scale));
}

// Largest difference, in units of the largest entry or of 1.
double difference(const M& a, const M& b) {
  if (!(a - b).allFinite()) return NAN;
  return a.size() ? (a - b).cwiseAbs().maxCoeff() / std::max(1.0, b.cwiseAbs().maxCoeff()) : 0;
}

template <class Check>
void on_every_level(const Check& check) {
  for (const auto* level : kernel_levels()) {
    CAPTURE(level->level);
    check(*level);
  }
}

std::vector<Visible> visibilities(Index queries, Index keys) {
  std::vector<Visible> all{Visible::all(keys)};
  if (keys >= queries) all.push_back(Visible::up_to_itself(queries, keys));
  return all;
}

std::vector<std::uint16_t> in_bfloat16(const Kernels<float>& kernel, const Strided& x) {
  std::vector<std::uint16_t> rounded(static_cast<std::size_t>(x.values().size()));
  kernel.to_bfloat16(x.read(), rounded.data());
  return rounded;
}

DropoutSource some_dropout() { return Dropout{0.3, 0x123456789abcULL, 7}.source(5, 100, 64); }

}  // namespace

TEST_CASE("the levels of this processor, fastest first, portable last") {
  const auto levels = kernel_levels();
  CHECK(std::string_view(levels.back()->level) == "portable");
  CHECK(std::string_view(kernels<double>().level) == "portable");
#if defined(__x86_64__)
  REQUIRE(levels.size() >= 2);  // the baseline is x86-64-v3
  CHECK(std::string_view(levels[levels.size() - 2]->level) == "avx2");
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    CHECK(std::string_view(levels.front()->level) == "avx512");
#endif
}

TEST_CASE("kernels of one row agree with their formulas at odd sizes and alignments") {
  on_every_level([](const Kernels<float>& kernel) {
    for (const Index n : kSizes)
      for (const Index shift : {0, 1, 3}) {
        CAPTURE(n, shift);
        const M x = random(1, n, 1, 5), y = random(1, n, 2);
        Strided softmax(x, shift);
        const double log_sum = static_cast<double>(kernel.softmax(softmax.view().data, n));
        CHECK(difference(softmax.values(), plain::softmax(x)) < 1e-6);
        CHECK(std::abs(softmax.values().sum() - 1) < 1e-6);
        CHECK(log_sum == Approx(plain::log_sum_exp(x)).epsilon(1e-6).margin(1e-6));
        CHECK(softmax.surroundings_untouched());

        Strided left(x, shift), right(y, 5 - shift);
        CHECK(static_cast<double>(kernel.log_sum_exp(left.read().data, n)) ==
              Approx(plain::log_sum_exp(x)).epsilon(1e-6).margin(1e-6));
        Index place = 0;
        x.row(0).maxCoeff(&place);
        CHECK(kernel.largest(left.read().data, n) == place);
        CHECK(kernel.inner_product(left.read(), right.read()) ==
              Approx(x.row(0).dot(y.row(0))).epsilon(1e-5).margin(1e-4));
        kernel.add_scaled(0.5F, left.read().data, right.view().data, n);
        CHECK(difference(right.values(), y + 0.5 * x) < 1e-6);
        kernel.scale(-3, left.view().data, n);
        CHECK(difference(left.values(), -3 * x) < 1e-6);
        CHECK((left.surroundings_untouched() && right.surroundings_untouched()));
      }
  });
}

TEST_CASE("the first of equally large entries is the largest") {
  on_every_level([](const Kernels<float>& kernel) {
    std::vector<float> x(50, -1);
    x[17] = x[40] = 3;
    CHECK(kernel.largest(x.data(), 50) == 17);
  });
}

TEST_CASE("exponentials hold at the ends of their range and pass on what is no number") {
  on_every_level([](const Kernels<float>& kernel) {
    for (const Index n : {1, 3, 16, 21, 40}) {
      CAPTURE(n);
      std::vector<float> x(static_cast<std::size_t>(n), -200);
      x.back() = 0;
      CHECK(kernel.softmax(x.data(), n) == 0);
      CHECK(x.back() == 1);
      CHECK((n == 1 || x.front() == 0));
      // Close to the smallest float.
      std::vector<float> y(static_cast<std::size_t>(n), -86);
      y.back() = 0;
      kernel.softmax(y.data(), n);
      if (n > 1) CHECK(static_cast<double>(y.front()) == Approx(std::exp(-86.0)).epsilon(1e-4));
      for (Index at = 0; at < n; ++at) {
        std::vector<float> z(static_cast<std::size_t>(n), 1);
        z[static_cast<std::size_t>(at)] = std::numeric_limits<float>::quiet_NaN();
        CHECK(std::isnan(kernel.log_sum_exp(z.data(), n)));
        CHECK(std::isnan(kernel.softmax(z.data(), n)));
      }
    }
  });
}

TEST_CASE("exponentials are accurate to a few units in the last place") {
  on_every_level([](const Kernels<float>& kernel) {
    double worst = 0;
    for (int i = 0; i <= 4000; ++i) {
      // ln(exp(0) + exp(x)) would hide small ones: two entries, the ratio of their shares.
      const float x = -87.0F * static_cast<float>(i) / 4000;
      std::vector<float> pair{0, x};
      kernel.softmax(pair.data(), 2);
      const double ratio = static_cast<double>(pair[1]) / static_cast<double>(pair[0]);
      const double wanted = std::exp(static_cast<double>(x));
      worst = std::max(worst, std::abs(ratio - wanted) / wanted);
    }
    CHECK(worst < 5e-7);
  });
}

TEST_CASE("kernels over rows agree with their formulas and keep to their view") {
  on_every_level([](const Kernels<float>& kernel) {
    for (const Index n : kSizes)
      for (const Index rows : {1, 5}) {
        CAPTURE(n, rows);
        const M x = random(rows, n, 3), y = random(rows, n, 4), row = random(1, n, 5);
        Strided sum(x);
        const F bias = row.cast<float>();
        kernel.add_row(bias.data(), sum.view());
        CHECK(difference(sum.values(), x.rowwise() + row.row(0)) < 1e-6);
        F sums = bias;
        kernel.add_column_sums(Strided(x).read(), sums.data());
        CHECK(difference(sums.cast<double>(), row + x.colwise().sum()) < 1e-6);

        Strided product(x);
        sums = bias;
        const Strided factors(y, 3);
        kernel.multiply(factors.read(), product.view(), sums.data(), nullptr);
        CHECK(difference(product.values(), x.cwiseProduct(y)) < 1e-6);
        CHECK(difference(sums.cast<double>(), row + x.cwiseProduct(y).colwise().sum()) < 1e-6);
        Strided again(x);
        kernel.multiply(factors.read(), again.view(), nullptr, nullptr);
        CHECK(same_bits(again.values(), product.values()));
        Strided kept(x);
        std::vector<std::uint16_t> half(static_cast<std::size_t>(x.size()));
        F sums_too = bias;
        kernel.multiply(factors.read(), kept.view(), sums_too.data(), half.data());
        CHECK(half == in_bfloat16(kernel, product));
        CHECK(same_bits(sums_too, sums));
        CHECK(same_bits(kept.values(), x));
        CHECK((sum.surroundings_untouched() && product.surroundings_untouched()));

        const auto dropout = some_dropout();
        const M mask = plain::mask(dropout, rows, n);
        Strided dropped(x), elsewhere(y), copied(y);
        kernel.drop(dropout, dropped.read(), elsewhere.view());
        kernel.drop({}, dropped.read(), copied.view());
        kernel.drop(dropout, dropped.read(), dropped.view());
        CHECK(difference(dropped.values(), x.cwiseProduct(mask)) < 1e-6);
        CHECK(same_bits(elsewhere.values(), dropped.values()));
        CHECK(same_bits(copied.values(), x));
        Strided added(y);
        kernel.add_dropped(dropout, Strided(x).read(), added.view());
        CHECK(difference(added.values(), y + x.cwiseProduct(mask)) < 1e-6);
        Strided plainly(y);
        kernel.add_dropped({}, Strided(x).read(), plainly.view());
        CHECK(difference(plainly.values(), y + x) < 1e-6);
        CHECK((dropped.surroundings_untouched() && added.surroundings_untouched()));
      }
  });
}

TEST_CASE("norms and their gradients agree with their formulas at odd sizes") {
  on_every_level([](const Kernels<float>& kernel) {
    for (const auto kind : {NormKind::layer, NormKind::rms})
      for (const Index n : kSizes) {
        CAPTURE(static_cast<int>(kind), n);
        const M x = random(4, n, 6, 2), gain = random(1, n, 7), bias = random(1, n, 8);
        const F g = gain.cast<float>(), b = bias.cast<float>();
        const auto norm = plain::normalize(kind, x, gain, bias, 1e-5);
        Strided normalized(M::Zero(4, n)), y(M::Zero(4, n), 3);
        F deviation(4, 1);
        kernel.normalize(kind, Strided(x).read(), g.data(),
                         kind == NormKind::layer ? b.data() : nullptr, 1e-5F, normalized.view(),
                         deviation.data(), y.view());
        CHECK(difference(y.values(), norm.y) < 1e-5);
        CHECK(difference(normalized.values(), norm.normalized) < 1e-5);
        CHECK((normalized.surroundings_untouched() && y.surroundings_untouched()));

        const M d_y = random(4, n, 9), before = random(4, n, 10), z = normalized.values();
        const M weighted = (d_y.array().rowwise() * gain.row(0).array()).matrix();
        M wanted = before;
        for (Index i = 0; i < 4; ++i) {
          const double mean = kind == NormKind::layer ? weighted.row(i).mean() : 0;
          wanted.row(i) += (weighted.row(i).array() - mean -
                            z.row(i).array() * weighted.row(i).cwiseProduct(z.row(i)).mean())
                               .matrix() *
                           static_cast<double>(deviation(i, 0));
        }
        Strided d_x(before);
        F d_gain = g, d_bias = b;
        kernel.normalize_backward(kind, Strided(d_y, 2).read(), g.data(), normalized.read(),
                                  deviation.data(), d_x.view(), d_gain.data(), d_bias.data());
        const double size = std::max(1.0, deviation.cast<double>().maxCoeff());
        CHECK(difference(d_x.values(), wanted) < 1e-5 * size);
        CHECK(difference(d_gain.cast<double>(), gain + d_y.cwiseProduct(z).colwise().sum()) < 1e-5);
        CHECK(difference(d_bias.cast<double>(), bias + d_y.colwise().sum()) < 1e-5);
        CHECK(d_x.surroundings_untouched());
      }
  });
}

TEST_CASE("activations and their slopes agree with their formulas") {
  on_every_level([](const Kernels<float>& kernel) {
    for (const auto kind : {Activation::relu, Activation::gelu, Activation::gelu_tanh})
      for (const Index n : kSizes) {
        CAPTURE(static_cast<int>(kind), n);
        M x = random(3, n, 11, 3);
        const M bias = random(1, n, 12);
        x(0, 0) = -exact(bias)(0, 0);  // a zero
        x(1, 0) = 40;
        x(2, 0) = -40;
        const M sum = (x.cast<float>().rowwise() + bias.cast<float>().row(0)).cast<double>();
        Strided value(x), slope(M::Zero(3, n), 3);
        const F b = bias.cast<float>();
        kernel.activate(kind, b.data(), value.view(), slope.view(), nullptr);
        CHECK(difference(value.values(), sum.unaryExpr([&](double v) {
                return plain::activation(kind, v);
              })) < 1e-6);
        CHECK(difference(slope.values(),
                         sum.unaryExpr([&](double v) { return plain::slope(kind, v); })) < 4e-6);
        CHECK((value.surroundings_untouched() && slope.surroundings_untouched()));
        Strided alone(x);
        kernel.activate(kind, b.data(), alone.view(), {}, nullptr);
        CHECK(same_bits(alone.values(), value.values()));
        Strided kept(x), slope_too(M::Zero(3, n), 3);
        std::vector<std::uint16_t> half(static_cast<std::size_t>(x.size()));
        kernel.activate(kind, b.data(), kept.view(), slope_too.view(), half.data());
        CHECK(half == in_bfloat16(kernel, value));
        CHECK(same_bits(slope_too.values(), slope.values()));
        CHECK(same_bits(kept.values(), x));
      }
  });
}

TEST_CASE("one sweep of AdamW agrees with its formula") {
  on_every_level([](const Kernels<float>& kernel) {
    const AdamWStep<float> step{0.9F, 0.1F, 0.99F, 0.01F, 0.5F, 0.02F, 3, 1e-6F, 0.75F};
    for (const Index n : kSizes) {
      CAPTURE(n);
      const M g = random(1, n, 13), m0 = random(1, n, 14), theta0 = random(1, n, 16);
      const M v0 = exact(random(1, n, 15).cwiseAbs());
      Strided m(m0), v(v0, 2), theta(theta0, 4);
      kernel.adamw(step, Strided(g, 3).read().data, m.view().data, v.view().data, theta.view().data,
                   n);
      const M scaled = 0.5 * g, m1 = 0.9 * m0 + 0.1 * scaled;
      const M v1 = 0.99 * v0 + 0.01 * scaled.cwiseProduct(scaled);
      CHECK(difference(m.values(), m1) < 1e-6);
      CHECK(difference(v.values(), v1) < 1e-6);
      CHECK(difference(theta.values(),
                       0.75 * theta0 -
                           (0.02 * m1.array() / ((3 * v1.array()).sqrt() + 1e-6)).matrix()) < 1e-6);
      CHECK((m.surroundings_untouched() && v.surroundings_untouched()));
      CHECK(theta.surroundings_untouched());
    }
  });
}

TEST_CASE("entropy and softness of a row agree with their formulas") {
  on_every_level([](const Kernels<float>& kernel) {
    for (const Index n : kSizes)
      for (const double scale : {0.1, 3.0, 60.0}) {  // flat, peaked, nearly one choice
        CAPTURE(n, scale);
        M p = exact(plain::softmax(random(1, n, 7, scale)));
        if (n > 2) p(0, 1) = 0;
        double entropy = 0, softness = 0;
        for (Index i = 0; i < n; ++i) {
          if (p(0, i) > 0) entropy -= p(0, i) * std::log(p(0, i));
          softness += p(0, i) * (1 - p(0, i));
        }
        const Strided row(p, 3);
        const auto found = kernel.spread(row.read().data, n);
        CHECK(static_cast<double>(found.entropy) == Approx(entropy).epsilon(2e-6).margin(1e-6));
        CHECK(static_cast<double>(found.softness) == Approx(softness).epsilon(2e-6).margin(1e-6));
      }
    // From the least normal number to the largest probability, one at a time.
    for (int exponent = -126; exponent <= 0; ++exponent)
      for (const float m : {1.0F, 1.1F, 1.41421F, 1.41422F, 1.7F, 1.999999F}) {
        const float p = std::ldexp(m, exponent) / (exponent == 0 ? 2 : 1);
        const double expected = -static_cast<double>(p) * std::log(static_cast<double>(p));
        CHECK(static_cast<double>(kernel.spread(&p, 1).entropy) == Approx(expected).epsilon(3e-7));
      }
    const std::array<float, 4> one_choice{0, 1, 0, 1e-40F};
    CHECK(std::abs(kernel.spread(one_choice.data(), 4).entropy) < 1e-36F);
    CHECK(std::abs(kernel.spread(one_choice.data(), 4).softness) < 1e-36F);
    const float nothing = std::numeric_limits<float>::quiet_NaN();
    CHECK(std::isnan(kernel.spread(&nothing, 1).softness));
  });
}

TEST_CASE("pairs of columns turn by their angles, and back") {
  on_every_level([](const Kernels<float>& kernel) {
    for (const Index half : kSizes) {
      CAPTURE(half);
      const M angles = random(5, half, 1, 3), x = random(4, 2 * half, 2);
      const M cosines = exact(angles.array().cos().matrix());
      const M sines = exact(angles.array().sin().matrix());
      const Strided c(cosines), s(sines, 2);
      Strided turned(x, 3);
      kernel.rotate(c.read(), s.read(), 1, turned.view());
      const M a = x.leftCols(half), b = x.rightCols(half);
      const M cos4 = cosines.topRows(4), sin4 = sines.topRows(4);
      M expected(4, 2 * half);
      expected << a.cwiseProduct(cos4) - b.cwiseProduct(sin4),
          a.cwiseProduct(sin4) + b.cwiseProduct(cos4);
      CHECK(difference(turned.values(), expected) < 1e-6);
      kernel.rotate(c.read(), s.read(), -1, turned.view());
      CHECK(difference(turned.values(), x) < 1e-6);
      CHECK(turned.surroundings_untouched());
    }
  });
}

TEST_CASE("the products and patterns of one head agree with their formulas at odd sizes") {
  on_every_level([](const Kernels<float>& kernel) {
    for (const auto& [queries, keys] : std::vector<std::pair<Index, Index>>{{1, 1},
                                                                            {1, 7},
                                                                            {5, 5},
                                                                            {7, 3},
                                                                            {16, 16},
                                                                            {17, 17},
                                                                            {9, 33},
                                                                            {40, 40},
                                                                            {31, 64},
                                                                            {64, 64},
                                                                            {70, 70}})
      for (const Index width : {1, 3, 8, 16, 20, 33, 64, 70})
        for (const auto& visible : visibilities(queries, keys)) {
          CAPTURE(queries, keys, width, visible.before_first);
          const M q = random(queries, width, 17), k = random(keys, width, 18);
          const M v = random(keys, width, 19), d_z = random(queries, width, 20);
          const M seen = plain::scores(M::Ones(queries, 1), M::Ones(keys, 1), 1, visible);
          std::vector<float> work(static_cast<std::size_t>(work_size(keys, width)));

          const M s = plain::scores(q, k, 0.25, visible);
          Strided scores(M::Zero(queries, keys), 3);
          kernel.scores(Strided(q).read(), Strided(k, 2).read(), 0.25F, visible, scores.view(),
                        work.data());
          CHECK(difference(scores.values().cwiseProduct(seen), s) < 1e-5);
          CHECK(scores.surroundings_untouched());

          for (const auto& dropout : {DropoutSource{}, some_dropout()}) {
            CAPTURE(dropout.active());
            const M mask = plain::mask(dropout, queries, keys);
            const M a = plain::patterns(s, visible), dropped = a.cwiseProduct(mask);
            Strided pattern(exact(s), 3);
            F log_sum = F::Constant(queries, 2, kHole);
            kernel.pattern(visible, dropout, pattern.view(), log_sum.data(), 2);
            CHECK(difference(pattern.values(), dropped) < 1e-5);
            CHECK((pattern.values().array() * (1 - seen.array()) == 0).all());
            CHECK((log_sum.col(1).array() == kHole).all());
            for (Index i = 0; i < queries; ++i)
              CHECK(static_cast<double>(log_sum(i, 0)) ==
                    Approx(plain::log_sum_exp(s.row(i).head(visible.keys_of(i))))
                        .epsilon(1e-5)
                        .margin(1e-5));

            Strided z(M::Zero(queries, width), 3);
            kernel.mix(pattern.read(), Strided(v).read(), 2, visible, z.view());
            CHECK(difference(z.values(), 2 * dropped * v) < 1e-5);
            Strided d_v(M::Zero(keys, width), 3);
            kernel.mix_back(pattern.read(), Strided(d_z).read(), 2, visible, d_v.view());
            CHECK(difference(d_v.values(), 2 * dropped.transpose() * d_z) < 1e-5);
            CHECK((z.surroundings_untouched() && d_v.surroundings_untouched()));

            // dS = A ∘ (dropout(dA) - δ); what is not visible may hold anything before.
            const M context = exact(dropped * v), d_a = plain::scores(d_z, v, 1, visible);
            Strided again(exact(s), 2), d_s(exact(d_a) + (1 - seen.array()).matrix() * NAN, 4);
            for (Index i = 0; i < queries; ++i)
              for (Index j = 0; j < keys; ++j)
                if (seen(i, j) != 0) d_s.view().row(i)[j] = static_cast<float>(d_a(i, j));
            kernel.pattern_back(visible, dropout, Strided(d_z).read(), Strided(context).read(),
                                log_sum.data(), 2, again.view(), d_s.view());
            const M delta = d_z.cwiseProduct(context).rowwise().sum();
            M wanted = d_a.cwiseProduct(mask);
            wanted.colwise() -= delta.col(0);
            CHECK(difference(again.values(), dropped) < 1e-5);
            CHECK(difference(d_s.values(), a.cwiseProduct(wanted)) < 1e-4);
            CHECK((again.surroundings_untouched() && d_s.surroundings_untouched()));
          }
        }
  });
}

TEST_CASE("additive scores and their gradients agree with their formulas at odd sizes") {
  on_every_level([](const Kernels<float>& kernel) {
    for (const auto& [queries, keys] : std::vector<std::pair<Index, Index>>{
             {1, 1}, {1, 7}, {5, 5}, {7, 3}, {17, 17}, {9, 33}, {40, 40}})
      for (const Index width : {1, 3, 8, 16, 20, 33})
        for (const auto& visible : visibilities(queries, keys)) {
          CAPTURE(queries, keys, width, visible.before_first);
          M q = random(queries, width, 17), k = random(keys, width, 18);
          q(0, 0) = 60;  // where tanh is 1 but exp is not finite
          k(keys - 1, width - 1) = -60;
          const M w = random(1, width, 19);
          const M seen = plain::scores(M::Ones(queries, 1), M::Ones(keys, 1), 1, visible);
          const M d = random(queries, keys, 20).cwiseProduct(seen);
          const F weights = w.cast<float>();
          std::vector<float> work(static_cast<std::size_t>(work_size(keys, width)));

          Strided scores(M::Zero(queries, keys), 3);
          kernel.additive_scores(Strided(q).read(), Strided(k, 2).read(), weights.data(), visible,
                                 scores.view(), work.data());
          CHECK(difference(scores.values().cwiseProduct(seen),
                           plain::additive_scores(q, k, w, visible)) < 1e-5);
          CHECK(scores.surroundings_untouched());

          const auto expected = plain::additive_back(q, k, w, d);
          const M before = random(1, width, 21);
          Strided d_q(M::Constant(queries, width, 5), 3), d_k(M::Constant(keys, width, 5), 2);
          Strided d_w(before, 4);
          kernel.additive_back(Strided(q).read(), Strided(k, 2).read(), weights.data(),
                               Strided(d, 3).read(), visible, d_q.view(), d_k.view(),
                               d_w.view().data);
          CHECK(difference(d_q.values(), expected.queries) < 1e-5);
          CHECK(difference(d_k.values(), expected.keys) < 1e-5);
          CHECK(difference(d_w.values(), before + expected.weights) < 1e-5);
          CHECK((d_q.surroundings_untouched() && d_k.surroundings_untouched()));
          CHECK(d_w.surroundings_untouched());

          Strided again(M::Constant(queries, width, 5), 3);
          kernel.additive_back(Strided(q).read(), Strided(k, 2).read(), weights.data(),
                               Strided(d, 3).read(), visible, again.view(), d_k.view(), nullptr);
          CHECK(same_bits(again.values(), d_q.values()));
        }
  });
}

TEST_CASE("products of one head have the same bits wherever the data lies") {
  on_every_level([](const Kernels<float>& kernel) {
    const M q = random(37, 20, 21), k = random(37, 20, 22);
    std::vector<float> work(static_cast<std::size_t>(work_size(37, 20)));
    const auto product = [&](Index shift) {
      Strided scores(M::Zero(37, 37), shift);
      kernel.scores(Strided(q, shift).read(), Strided(k, shift + 1).read(), 1, Visible::all(37),
                    scores.view(), work.data());
      return scores.values();
    };
    for (const Index shift : {1, 2, 3, 7}) CHECK(same_bits(product(shift), product(0)));
  });
}

TEST_CASE("bfloat16 is the nearest one, ties to even, and keeps what is no number") {
  on_every_level([](const Kernels<float>& kernel) {
    const auto bits = [](std::uint32_t number) { return std::bit_cast<float>(number); };
    // lower half: below, at and above the middle; even and odd upper half; carries; the largest
    // float
    const std::vector<std::pair<std::uint32_t, std::uint16_t>> cases{
        {0x3F800000, 0x3F80}, {0x3F807FFF, 0x3F80}, {0x3F808000, 0x3F80}, {0x3F808001, 0x3F81},
        {0x3F818000, 0x3F82}, {0xBF818000, 0xBF82}, {0x3FFFFFFF, 0x4000}, {0x7F7FFFFF, 0x7F80},
        {0x7F800000, 0x7F80}, {0xFF800000, 0xFF80}, {0x00000001, 0x0000}, {0x80000000, 0x8000}};
    for (const Index shift : {0, 5}) {
      Matrix<float> x(2, 40);
      std::vector<std::uint16_t> wanted, found(80);
      for (Index i = 0; i < 80; ++i) {
        const auto& [number, half] = cases[static_cast<std::size_t>(i + shift) % cases.size()];
        x.data()[i] = bits(number);
        wanted.push_back(half);
      }
      kernel.to_bfloat16(const_rows_of<float>(x), found.data());
      CHECK(found == wanted);
      x.setConstant(bits(0x7F800001));  // would become an infinity if it were cut off
      kernel.to_bfloat16(const_rows_of<float>(x), found.data());
      for (const auto half : found) CHECK((half & 0x7FFF) > 0x7F80);
    }
  });
}
