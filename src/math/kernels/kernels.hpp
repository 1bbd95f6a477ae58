#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headcount {

// The inner loops of attention and of all that surrounds it, one table of functions for each set of
// vector instructions. Every file that fills such a table is compiled for its own instructions, so
// none of them may see Eigen or share an inline function with others (one-definition rule).
//
// Results depend on the level and on shapes, never on where the data lies in memory.

using Size = std::ptrdiff_t;

// Rows of numbers that lie `stride` apart.
template <class Real>
struct Rows {
  Real* data = nullptr;
  Size rows = 0, cols = 0, stride = 0;

  [[gnu::always_inline]] Real* row(Size i) const { return data + i * stride; }
};

// Which of `keys` keys a query sees: the first keys_of(query) ones.
struct Visible {
  Size before_first = 0;  // keys that query 0 sees besides its own position's
  Size keys = 0;

  static Visible all(Size keys) { return {keys, keys}; }
  static Visible up_to_itself(Size queries, Size keys) { return {keys - queries, keys}; }
  [[gnu::always_inline]] Size keys_of(Size query) const {
    return before_first + query + 1 < keys ? before_first + query + 1 : keys;
  }
  [[gnu::always_inline]] Size first_query_of(Size key) const {
    return key > before_first ? key - before_first : 0;
  }
};

// Where the random numbers of dropout come from: see Dropout.
struct DropoutSource {
  std::uint32_t threshold = 0;  // a number below it drops its entry; 0 drops none
  double scale = 1;             // of entries that stay
  std::uint32_t key[2] = {0, 0};
  std::uint32_t step = 0, purpose = 0;
  std::uint32_t first_row = 0, first_column = 0;

  [[gnu::always_inline]] bool active() const { return threshold != 0; }
};

template <class Real>
struct AdamWStep {
  Real beta_1, rest_1, beta_2, rest_2;  // rest = 1 - beta
  Real scale;                           // of the gradient
  Real rate, unbias_2, epsilon, decay;  // θ = decay · θ - rate · m / (√(v · unbias_2) + ε)
};

// How far a distribution is from a single choice.
template <class Real>
struct RowSpread {
  Real entropy, softness;
};

enum class Activation {
  relu,       // max(0, x)
  gelu,       // x Φ(x), exact (Hendrycks & Gimpel 2016)
  gelu_tanh,  // its tanh approximation, as in GPT-2
};

enum class NormKind { layer, rms };

template <class Real>
struct Kernels {
  const char* level;

  // x[0 .. n) becomes softmax(x); returns ln Σ exp(x). n > 0.
  Real (*softmax)(Real* x, Size n);
  // ln Σ exp(x). n > 0.
  Real (*log_sum_exp)(const Real* x, Size n);
  // The first place of the largest entry. n > 0.
  Size (*largest)(const Real* x, Size n);
  // -Σ p ln p, 0 ln 0 = 0, and Σ p (1 - p) over p[0 .. n), each from 0 to 1.
  RowSpread<Real> (*spread)(const Real* p, Size n);
  // Σ x ∘ y, the sums of rows added in double.
  double (*inner_product)(Rows<const Real> x, Rows<const Real> y);
  // y += a x
  void (*add_scaled)(Real a, const Real* x, Real* y, Size n);
  // x *= a
  void (*scale)(Real a, Real* x, Size n);

  // x [N, n] += row [n]
  void (*add_row)(const Real* row, Rows<Real> x);
  // sums [n] += Σ over rows of x
  void (*add_column_sums)(Rows<const Real> x, Real* sums);
  // y = dropout(x), x [N, n]; y may be x.
  void (*drop)(const DropoutSource& dropout, Rows<const Real> x, Rows<Real> y);
  // sum += dropout(x)
  void (*add_dropped)(const DropoutSource& dropout, Rows<const Real> x, Rows<Real> sum);

  // y = gain ∘ normalized + bias, normalized = (x - mean) · inverse_deviation [N]; with rms the
  // mean counts as 0 and the bias is not looked at.
  void (*normalize)(NormKind kind, Rows<const Real> x, const Real* gain, const Real* bias,
                    Real epsilon, Rows<Real> normalized, Real* inverse_deviation, Rows<Real> y);
  // d_x += ...; d_gain, d_bias += ... unless null.
  void (*normalize_backward)(NormKind kind, Rows<const Real> d_y, const Real* gain,
                             Rows<const Real> normalized, const Real* inverse_deviation,
                             Rows<Real> d_x, Real* d_gain, Real* d_bias);

  // x becomes f(x + bias) and slope f'(x + bias); slope.data may be null. Where `rounded` is not,
  // the values go there, as to_bfloat16 would make them, and x stays.
  void (*activate)(Activation kind, const Real* bias, Rows<Real> x, Rows<Real> slope,
                   std::uint16_t* rounded);
  // d = d ∘ slope; sums += Σ over rows of the new d unless null; `rounded` as above.
  void (*multiply)(Rows<const Real> slope, Rows<Real> d, Real* sums, std::uint16_t* rounded);

  // The same numbers in bfloat16 (the upper half of a float), rounded to nearest, ties to even;
  // `to` [N, n] contiguous.
  void (*to_bfloat16)(Rows<const Real> x, std::uint16_t* to);

  void (*adamw)(const AdamWStep<Real>& step, const Real* gradient, Real* first, Real* second,
                Real* values, Size n);

  // Turns columns k and k + n of x [T, 2n] in their plane by the angle whose cosine and sine are
  // entries (row, k) of [T or more, n]; against it with `direction` -1.
  void (*rotate)(Rows<const Real> cosines, Rows<const Real> sines, Real direction, Rows<Real> x);

  // The products of one head. Only visible entries are computed, up to the end of a tile; `work`
  // has work_size(keys, width) numbers.
  //
  // scores[i, j] = scale Σ_k queries[i, k] keys[j, k]; what is not visible stays undefined.
  void (*scores)(Rows<const Real> queries, Rows<const Real> keys, Real scale, Visible visible,
                 Rows<Real> scores, Real* work);
  // scores[i, j] = Σ_k weights[k] tanh(queries[i, k] + keys[j, k]), as above.
  void (*additive_scores)(Rows<const Real> queries, Rows<const Real> keys, const Real* weights,
                          Visible visible, Rows<Real> scores, Real* work);
  // From d_scores: d_queries and d_keys are set, d_weights [K] is added to unless null.
  void (*additive_back)(Rows<const Real> queries, Rows<const Real> keys, const Real* weights,
                        Rows<const Real> d_scores, Visible visible, Rows<Real> d_queries,
                        Rows<Real> d_keys, Real* d_weights);
  // out[i] = scale Σ_j pattern[i, j] values[j]
  void (*mix)(Rows<const Real> pattern, Rows<const Real> values, Real scale, Visible visible,
              Rows<Real> out);
  // out[j] = scale Σ_i pattern[i, j] x[i]
  void (*mix_back)(Rows<const Real> pattern, Rows<const Real> x, Real scale, Visible visible,
                   Rows<Real> out);
  // Row by row: scores become softmax over what is visible, 0 elsewhere, then dropout;
  // log_sums[i · stride] = ln Σ exp.
  void (*pattern)(Visible visible, const DropoutSource& dropout, Rows<Real> scores, Real* log_sums,
                  Size log_sum_stride);
  // The same patterns A again from the scores and their normalizers, and the gradient of the
  // scores: d becomes A ∘ (dropout(d) - delta[i]), scores become dropout(A); 0 where not visible.
  // delta[i] = Σ_k d_context[i, k] context[i, k].
  void (*pattern_back)(Visible visible, const DropoutSource& dropout, Rows<const Real> d_context,
                       Rows<const Real> context, const Real* log_sums, Size log_sum_stride,
                       Rows<Real> scores, Rows<Real> d);
};

// Numbers that Kernels::scores and additive_scores need to work in.
inline Size work_size(Size keys, Size width) { return (keys + 15) / 16 * 16 * width; }

// The fastest table this processor can run; for double always the portable one. The environment
// variable HEADCOUNT_LEVEL names a lower level ("avx512", "avx2", "portable"); another name, or one
// this processor cannot run, is an Error (usage).
template <class Real>
const Kernels<Real>& kernels();

// All tables of this processor, fastest first.
std::vector<const Kernels<float>*> kernel_levels();

}  // namespace headcount
