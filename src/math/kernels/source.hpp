// The kernels themselves, written once for a pack P of vector instructions. Included by one .cpp
// file for each level, after its pack; all of it has internal linkage.

#ifdef EIGEN_WORLD_VERSION
#error "kernels are compiled for instructions of their own and must not see Eigen"
#endif

namespace headcount {
namespace {

inline float natural_log(float x) { return __builtin_logf(x); }
inline double natural_log(double x) { return __builtin_log(x); }
inline float root(float x) { return __builtin_sqrtf(x); }
inline double root(double x) { return __builtin_sqrt(x); }

template <class P>
struct Source {
  using Real = typename P::Real;
  using V = typename P::V;
  static constexpr Size kWidth = P::kWidth;

  // A whole pack, or its first n numbers.
  struct Whole {};
  struct Part {
    Size n;
  };
  static V load(const Real* p, Whole) { return P::load(p); }
  static V load(const Real* p, Part part) { return P::load(p, part.n); }
  static V load(const Real* p, Whole, Real) { return P::load(p); }
  static V load(const Real* p, Part part, Real rest) { return P::load(p, part.n, rest); }
  static void store(Real* p, V x, Whole) { P::store(p, x); }
  static void store(Real* p, V x, Part part) { P::store(p, x, part.n); }
  static void store_rounded(std::uint16_t* p, V x, Whole) { P::to_bfloat16(x, p); }
  static void store_rounded(std::uint16_t* p, V x, Part part) {
    Real numbers[kWidth];
    P::store(numbers, x);
    for (Size i = 0; i < part.n; ++i) p[i] = bfloat16(static_cast<float>(numbers[i]));
  }

  // f(i, Whole or Part) over 0 .. n-1 in packs.
  template <class F>
  [[gnu::always_inline]] static void each(Size n, const F& f) {
    Size i = 0;
    for (; i + kWidth <= n; i += kWidth) f(i, Whole{});
    if (i < n) f(i, Part{n - i});
  }

  // Σ of f(i, part), a pack at a time in four running sums. f gives 0 outside a part.
  template <class F>
  [[gnu::always_inline]] static Real sum_of(Size n, const F& f) {
    V a = P::all(0), b = a, c = a, d = a;
    Size i = 0;
    for (; i + 4 * kWidth <= n; i += 4 * kWidth) {
      a = a + f(i, Whole{});
      b = b + f(i + kWidth, Whole{});
      c = c + f(i + 2 * kWidth, Whole{});
      d = d + f(i + 3 * kWidth, Whole{});
    }
    for (; i + kWidth <= n; i += kWidth) a = a + f(i, Whole{});
    if (i < n) b = b + f(i, Part{n - i});
    return P::sum((a + b) + (c + d));
  }

  static constexpr Real kLowest = -__builtin_huge_valf();

  static Real top(const Real* x, Size n) {
    V best = P::all(kLowest);
    each(n, [&](Size i, auto part) { best = P::max(best, load(x + i, part, kLowest)); });
    return P::largest(best);
  }

  static Real softmax(Real* x, Size n) {
    const Real shift = top(x, n);
    const V shifts = P::all(shift);
    const Real total = sum_of(n, [&](Size i, auto part) {
      const V e = P::exp(load(x + i, part, kLowest) - shifts);
      store(x + i, e, part);
      return e;
    });
    scale(1 / total, x, n);
    return shift + natural_log(total);
  }

  static Real log_sum_exp(const Real* x, Size n) {
    const Real shift = top(x, n);
    const V shifts = P::all(shift);
    return shift + natural_log(sum_of(n, [&](Size i, auto part) {
             return P::exp(load(x + i, part, kLowest) - shifts);
           }));
  }

  static Size largest(const Real* x, Size n) {
    const Real best = top(x, n);
    for (Size i = 0; i < n; ++i)
      if (x[i] == best) return i;
    return 0;
  }

  static RowSpread<Real> spread(const Real* p, Size n) {
    // ln is that of normal numbers; what is smaller makes no difference.
    constexpr Real kLeast = sizeof(Real) == sizeof(float) ? Real(__FLT_MIN__) : Real(__DBL_MIN__);
    const V least = P::all(kLeast), one = P::all(1);
    const Real entropy = sum_of(n, [&](Size i, auto part) {
      const V x = load(p + i, part);
      return P::all(0) - x * P::log(P::max(x, least));
    });
    const Real softness = sum_of(n, [&](Size i, auto part) {
      const V x = load(p + i, part);
      return x * (one - x);
    });
    return {entropy, softness};
  }

  static Real dot(const Real* x, const Real* y, Size n) {
    return sum_of(n, [&](Size i, auto part) { return load(x + i, part) * load(y + i, part); });
  }

  static double inner_product(Rows<const Real> x, Rows<const Real> y) {
    double total = 0;
    for (Size r = 0; r < x.rows; ++r) total += static_cast<double>(dot(x.row(r), y.row(r), x.cols));
    return total;
  }

  static void add_scaled(Real a, const Real* x, Real* y, Size n) {
    const V factor = P::all(a);
    each(n, [&](Size i, auto part) {
      store(y + i, P::fma(factor, load(x + i, part), load(y + i, part)), part);
    });
  }

  static void scale(Real a, Real* x, Size n) {
    const V factor = P::all(a);
    each(n, [&](Size i, auto part) { store(x + i, load(x + i, part) * factor, part); });
  }

  static void add_row(const Real* row, Rows<Real> x) {
    for (Size r = 0; r < x.rows; ++r) {
      Real* to = x.row(r);
      each(x.cols, [&](Size i, auto part) {
        store(to + i, load(to + i, part) + load(row + i, part), part);
      });
    }
  }

  static void add_column_sums(Rows<const Real> x, Real* sums) {
    // A strip of columns at a time: its sums stay in a register.
    each(x.cols, [&](Size i, auto part) {
      V sum = load(sums + i, part);
      for (Size r = 0; r < x.rows; ++r) sum = sum + load(x.row(r) + i, part);
      store(sums + i, sum, part);
    });
  }

  // f(i, part, factors) over a row of n columns.
  template <class F>
  [[gnu::always_inline]] static void each_masked(const DropoutSource& dropout, Size row, Size n,
                                                 const F& f) {
    const auto number = dropout.first_row + static_cast<std::uint32_t>(row);
    for (Size first = 0; first < n; first += 32) {
      const auto mask =
          P::mask(dropout, number, (dropout.first_column + static_cast<std::uint32_t>(first)) / 32);
      const Size here = n - first < 32 ? n - first : 32;
      each(here, [&](Size i, auto part) { f(first + i, part, mask.at(i)); });
    }
  }

  static void drop_row(const DropoutSource& dropout, Size row, const Real* x, Real* y, Size n) {
    each_masked(dropout, row, n, [&](Size i, auto part, V factor) {
      store(y + i, load(x + i, part) * factor, part);
    });
  }

  static void drop(const DropoutSource& dropout, Rows<const Real> x, Rows<Real> y) {
    for (Size r = 0; r < x.rows; ++r) {
      const Real* from = x.row(r);
      Real* to = y.row(r);
      if (dropout.active())
        drop_row(dropout, r, from, to, x.cols);
      else if (to != from)
        each(x.cols, [&](Size i, auto part) { store(to + i, load(from + i, part), part); });
    }
  }

  static void add_dropped(const DropoutSource& dropout, Rows<const Real> x, Rows<Real> sum) {
    for (Size r = 0; r < x.rows; ++r) {
      const Real* from = x.row(r);
      Real* to = sum.row(r);
      if (dropout.active())
        each_masked(dropout, r, x.cols, [&](Size i, auto part, V factor) {
          store(to + i, P::fma(load(from + i, part), factor, load(to + i, part)), part);
        });
      else
        each(x.cols, [&](Size i, auto part) {
          store(to + i, load(from + i, part) + load(to + i, part), part);
        });
    }
  }

  template <bool kCentred>
  static void normalize_with(Rows<const Real> x, const Real* gain, const Real* bias, Real epsilon,
                             Rows<Real> normalized, Real* inverse_deviation, Rows<Real> y) {
    const Real n = static_cast<Real>(x.cols);
    for (Size r = 0; r < x.rows; ++r) {
      const Real* from = x.row(r);
      Real mean = 0;
      if constexpr (kCentred)
        mean = sum_of(x.cols, [&](Size i, auto part) { return load(from + i, part); }) / n;
      const V means = P::all(mean);
      const auto off_mean = [&](Size i, auto part) {
        const V value = load(from + i, part, mean);
        if constexpr (kCentred)
          return value - means;
        else
          return value;
      };
      const Real variance = sum_of(x.cols,
                                   [&](Size i, auto part) {
                                     const V off = off_mean(i, part);
                                     return off * off;
                                   }) /
                            n;
      inverse_deviation[r] = 1 / root(variance + epsilon);
      const V factor = P::all(inverse_deviation[r]);
      Real* z = normalized.row(r);
      Real* to = y.row(r);
      each(x.cols, [&](Size i, auto part) {
        const V unit = off_mean(i, part) * factor;
        store(z + i, unit, part);
        if constexpr (kCentred)
          store(to + i, P::fma(unit, load(gain + i, part), load(bias + i, part)), part);
        else
          store(to + i, unit * load(gain + i, part), part);
      });
    }
  }

  static void normalize(NormKind kind, Rows<const Real> x, const Real* gain, const Real* bias,
                        Real epsilon, Rows<Real> normalized, Real* inverse_deviation,
                        Rows<Real> y) {
    if (kind == NormKind::layer)
      normalize_with<true>(x, gain, bias, epsilon, normalized, inverse_deviation, y);
    else
      normalize_with<false>(x, gain, bias, epsilon, normalized, inverse_deviation, y);
  }

  // With ŷ = d_y ∘ gain: d_x = (ŷ - mean(ŷ) - normalized · mean(ŷ ∘ normalized)) ·
  // inverse_deviation; with rms without mean(ŷ).
  template <bool kCentred>
  static void normalize_backward_with(Rows<const Real> d_y, const Real* gain,
                                      Rows<const Real> normalized, const Real* inverse_deviation,
                                      Rows<Real> d_x, Real* d_gain, Real* d_bias) {
    const Real n = static_cast<Real>(d_y.cols);
    for (Size r = 0; r < d_y.rows; ++r) {
      const Real* d = d_y.row(r);
      const Real* z = normalized.row(r);
      Real* to = d_x.row(r);
      V mean = P::all(0);
      if constexpr (kCentred)
        mean = P::all(
            sum_of(d_y.cols,
                   [&](Size i, auto part) { return load(d + i, part) * load(gain + i, part); }) /
            n);
      const V slope =
          P::all(sum_of(d_y.cols,
                        [&](Size i, auto part) {
                          return load(d + i, part) * load(gain + i, part) * load(z + i, part);
                        }) /
                 n);
      const V factor = P::all(inverse_deviation[r]);
      each(d_y.cols, [&](Size i, auto part) {
        const V unit = load(z + i, part);
        V change = load(d + i, part) * load(gain + i, part);
        if constexpr (kCentred) change = change - mean;
        change = change - unit * slope;
        store(to + i, P::fma(change, factor, load(to + i, part)), part);
      });
      if (d_gain)
        each(d_y.cols, [&](Size i, auto part) {
          store(d_gain + i, P::fma(load(d + i, part), load(z + i, part), load(d_gain + i, part)),
                part);
        });
      if (d_bias)
        each(d_y.cols, [&](Size i, auto part) {
          store(d_bias + i, load(d_bias + i, part) + load(d + i, part), part);
        });
    }
  }

  static void normalize_backward(NormKind kind, Rows<const Real> d_y, const Real* gain,
                                 Rows<const Real> normalized, const Real* inverse_deviation,
                                 Rows<Real> d_x, Real* d_gain, Real* d_bias) {
    if (kind == NormKind::layer)
      normalize_backward_with<true>(d_y, gain, normalized, inverse_deviation, d_x, d_gain, d_bias);
    else
      normalize_backward_with<false>(d_y, gain, normalized, inverse_deviation, d_x, d_gain, d_bias);
  }

  struct ValueAndSlope {
    V value, slope;
  };

  static ValueAndSlope relu(V x) {
    const V zero = P::all(0);
    // In this order a number that is none stays none. The slope at 0 is 0.
    return {P::max(zero, x), P::where_negative(zero - x, P::all(1), zero)};
  }

  // x Φ(x); slope Φ(x) + x φ(x).
  static ValueAndSlope gelu(V x) {
    constexpr Real kHalfRoot = static_cast<Real>(0.70710678118654752440);  // 1/√2
    constexpr Real kDensity = static_cast<Real>(0.39894228040143267794);   // 1/√(2π)
    const V z = P::abs(x) * P::all(kHalfRoot);
    const V bell = P::exp(P::all(0) - z * z);
    const V tail = P::half_erfc(z, bell);
    const V below = P::where_negative(x, tail, P::all(1) - tail);
    return {x * below, P::fma(x * P::all(kDensity), bell, below)};
  }

  static V tanh(V x) {
    const V one = P::all(1);
    return one - P::all(2) / (P::exp(x + x) + one);
  }

  // ½ x (1 + t), t = tanh(u), u = √(2/π) (x + 0.044715 x³); slope ½ (1 + t) + ½ x (1 - t²) u'.
  static ValueAndSlope gelu_tanh(V x) {
    constexpr Real kRate = static_cast<Real>(0.79788456080286535588);  // √(2/π)
    constexpr Real kCubic = static_cast<Real>(0.044715);
    const V one = P::all(1), half = P::all(static_cast<Real>(0.5)), square = x * x;
    const V u = P::all(kRate) * x * P::fma(P::all(kCubic), square, one);
    const V t = tanh(u);
    const V rise = P::all(kRate) * P::fma(P::all(3 * kCubic), square, one);
    const V above = half * (one + t);
    return {x * above, P::fma(half * x * (one - t * t), rise, above)};
  }

  template <class F>
  [[gnu::always_inline]] static void activate_with(const F& f, const Real* bias, Rows<Real> x,
                                                   Rows<Real> slope, std::uint16_t* rounded) {
    for (Size r = 0; r < x.rows; ++r) {
      Real* at = x.row(r);
      Real* to = slope.data ? slope.row(r) : nullptr;
      std::uint16_t* half = rounded ? rounded + r * x.cols : nullptr;
      each(x.cols, [&](Size i, auto part) {
        const ValueAndSlope result = f(load(at + i, part) + load(bias + i, part));
        if (half)
          store_rounded(half + i, result.value, part);
        else
          store(at + i, result.value, part);
        if (to) store(to + i, result.slope, part);
      });
    }
  }

  static void activate(Activation kind, const Real* bias, Rows<Real> x, Rows<Real> slope,
                       std::uint16_t* rounded) {
    switch (kind) {
      case Activation::relu:
        return activate_with([](V v) { return relu(v); }, bias, x, slope, rounded);
      case Activation::gelu:
        return activate_with([](V v) { return gelu(v); }, bias, x, slope, rounded);
      case Activation::gelu_tanh:
        return activate_with([](V v) { return gelu_tanh(v); }, bias, x, slope, rounded);
    }
  }

  static void multiply(Rows<const Real> slope, Rows<Real> d, Real* sums, std::uint16_t* rounded) {
    for (Size r = 0; r < d.rows; ++r) {
      const Real* factor = slope.row(r);
      Real* at = d.row(r);
      std::uint16_t* half = rounded ? rounded + r * d.cols : nullptr;
      each(d.cols, [&](Size i, auto part) {
        const V product = load(at + i, part) * load(factor + i, part);
        if (half)
          store_rounded(half + i, product, part);
        else
          store(at + i, product, part);
        if (sums) store(sums + i, load(sums + i, part) + product, part);
      });
    }
  }

  static void to_bfloat16(Rows<const Real> x, std::uint16_t* to) {
    for (Size r = 0; r < x.rows; ++r, to += x.cols) {
      const Real* from = x.row(r);
      each(x.cols, [&](Size i, auto part) { store_rounded(to + i, load(from + i, part), part); });
    }
  }

  static void adamw(const AdamWStep<Real>& step, const Real* gradient, Real* first, Real* second,
                    Real* values, Size n) {
    const V beta_1 = P::all(step.beta_1), rest_1 = P::all(step.rest_1);
    const V beta_2 = P::all(step.beta_2), rest_2 = P::all(step.rest_2);
    const V factor = P::all(step.scale), rate = P::all(step.rate);
    const V unbias_2 = P::all(step.unbias_2), epsilon = P::all(step.epsilon);
    const V decay = P::all(step.decay);
    each(n, [&](Size i, auto part) {
      const V g = factor * load(gradient + i, part);
      const V m = P::fma(rest_1, g, beta_1 * load(first + i, part));
      const V v = P::fma(rest_2 * g, g, beta_2 * load(second + i, part));
      store(first + i, m, part);
      store(second + i, v, part);
      const V change = rate * m / (P::sqrt(v * unbias_2) + epsilon);
      store(values + i, decay * load(values + i, part) - change, part);
    });
  }

  static void rotate(Rows<const Real> cosines, Rows<const Real> sines, Real direction,
                     Rows<Real> x) {
    const Size half = cosines.cols;
    const V toward = P::all(direction);
    for (Size r = 0; r < x.rows; ++r) {
      Real* left = x.row(r);
      Real* right = left + half;
      each(half, [&](Size i, auto part) {
        const V a = load(left + i, part), b = load(right + i, part);
        const V cosine = load(cosines.row(r) + i, part),
                sine = toward * load(sines.row(r) + i, part);
        store(left + i, P::fma(a, cosine, P::all(0) - b * sine), part);
        store(right + i, P::fma(a, sine, b * cosine), part);
      });
    }
  }

  // c[r, 0 .. columns) = scale Σ_k a(r, k) b[k], r < kRows, k in first .. last-1, columns filling
  // kPacks packs, the last maybe in part. a(r, k) lies at a + r · a_row + k · a_step.
  template <int kRows, int kPacks, class Last>
  [[gnu::always_inline]] static void tile(const Real* a, Size a_row, Size a_step, const Real* b,
                                          Size b_stride, Size first, Size last, Real factor,
                                          Real* c, Size c_stride, Last end) {
    V sum[kRows][kPacks];
    for (int r = 0; r < kRows; ++r)
      for (int p = 0; p < kPacks; ++p) sum[r][p] = P::all(0);
    for (Size k = first; k < last; ++k) {
      V right[kPacks];
      for (int p = 0; p + 1 < kPacks; ++p) right[p] = P::load(b + k * b_stride + p * kWidth);
      right[kPacks - 1] = load(b + k * b_stride + (kPacks - 1) * kWidth, end);
      for (int r = 0; r < kRows; ++r) {
        const V left = P::all(a[r * a_row + k * a_step]);
        for (int p = 0; p < kPacks; ++p) sum[r][p] = P::fma(left, right[p], sum[r][p]);
      }
    }
    const V factors = P::all(factor);
    for (int r = 0; r < kRows; ++r) {
      for (int p = 0; p + 1 < kPacks; ++p)
        P::store(c + r * c_stride + p * kWidth, sum[r][p] * factors);
      store(c + r * c_stride + (kPacks - 1) * kWidth, sum[r][kPacks - 1] * factors, end);
    }
  }

  struct Product {
    const Real* a;
    Size a_row, a_step;
    const Real* b;
    Size b_stride;
    Real factor;
    Real* c;
    Size c_stride;

    template <int kRows, int kPacks, class Last>
    [[gnu::noinline]] void tile_at(Size row, Size column, Size first, Size last, Last end) const {
      tile<kRows, kPacks>(a + row * a_row, a_row, a_step, b + column, b_stride, first, last, factor,
                          c + row * c_stride + column, c_stride, end);
    }
    // `columns` of them, from `column` on: at most 4 packs.
    template <int kRows>
    void tiles(Size row, Size column, Size columns, Size first, Size last) const {
      const Size packs = (columns + kWidth - 1) / kWidth, rest = columns - (packs - 1) * kWidth;
      const auto with = [&](auto end) {
        switch (packs) {
          case 1:
            return tile_at<kRows, 1>(row, column, first, last, end);
          case 2:
            return tile_at<kRows, 2>(row, column, first, last, end);
          case 3:
            if constexpr (kRows <= 8) return tile_at<kRows, 3>(row, column, first, last, end);
            break;
          default:
            if constexpr (kRows <= 6) return tile_at<kRows, 4>(row, column, first, last, end);
            break;
        }
      };
      if (rest == kWidth)
        with(Whole{});
      else
        with(Part{rest});
    }
  };

  // f(row, rows) over 0 .. n-1 with `rows` a constant: kMain while it fits, then smaller ones.
  template <int kMain, class F>
  [[gnu::always_inline]] static void each_rows(Size n, const F& f) {
    Size row = 0;
    for (; row + kMain <= n; row += kMain) f(row, std::integral_constant<int, kMain>{});
    if constexpr (kMain > 8)
      for (; row + 8 <= n; row += 8) f(row, std::integral_constant<int, 8>{});
    if constexpr (kMain > 4)
      for (; row + 4 <= n; row += 4) f(row, std::integral_constant<int, 4>{});
    for (; row + 2 <= n; row += 2) f(row, std::integral_constant<int, 2>{});
    for (; row < n; ++row) f(row, std::integral_constant<int, 1>{});
  }

  // y[j, i] = x[i, j], rows of y `stride` apart, which is x.rows or more and a multiple of kWidth:
  // whole packs are stored.
  static void transpose(Rows<const Real> x, Real* y, Size stride) {
    for (Size i = 0; i < x.rows; i += kWidth)
      for (Size j = 0; j < x.cols; j += kWidth) {
        const Size rows = x.rows - i < kWidth ? x.rows - i : kWidth;
        const Size cols = x.cols - j < kWidth ? x.cols - j : kWidth;
        Real* to = y + j * stride + i;
        if (rows == kWidth && cols == kWidth) {
          P::transpose_tile(x.row(i) + j, x.stride, to, stride);
          continue;
        }
        Real tile[kWidth * kWidth], turned[kWidth * kWidth];
        for (Size r = 0; r < kWidth; ++r)
          store(tile + r * kWidth, r < rows ? load(x.row(i + r) + j, Part{cols}) : P::all(0),
                Whole{});
        P::transpose_tile(tile, kWidth, turned, kWidth);
        for (Size c = 0; c < cols; ++c)
          store(to + c * stride, load(turned + c * kWidth, Whole{}), Whole{});
      }
  }

  static void scores(Rows<const Real> queries, Rows<const Real> keys, Real factor, Visible visible,
                     Rows<Real> scores, Real* work) {
    const Size stride = (keys.rows + 15) / 16 * 16;
    transpose(keys, work, stride);
    const Product product{queries.data, queries.stride, 1,           work,
                          stride,       factor,         scores.data, scores.stride};
    each_rows<P::kTileRows[2]>(queries.rows, [&](Size row, auto rows) {
      const Size columns = visible.keys_of(row + rows() - 1);
      for (Size column = 0; column < columns; column += 2 * kWidth) {
        const Size here = columns - column < 2 * kWidth ? columns - column : 2 * kWidth;
        product.template tiles<rows()>(row, column, here, 0, keys.cols);
      }
    });
  }

  static void additive_scores(Rows<const Real> queries, Rows<const Real> keys, const Real* weights,
                              Visible visible, Rows<Real> scores, Real* work) {
    const Size stride = (keys.rows + 15) / 16 * 16;
    transpose(keys, work, stride);
    for (Size i = 0; i < queries.rows; ++i) {
      const Real* query = queries.row(i);
      Real* to = scores.row(i);
      each(visible.keys_of(i), [&](Size j, auto part) {
        V sum = P::all(0);
        for (Size k = 0; k < keys.cols; ++k)
          sum = P::fma(P::all(weights[k]),
                       tanh(P::all(query[k]) + load(work + k * stride + j, part)), sum);
        store(to + j, sum, part);
      });
    }
  }

  // With t = tanh(q_i + k_j): dq_i = w Σ_j d[i, j] (1 - t²), dk_j = w Σ_i d[i, j] (1 - t²),
  // dw = Σ d[i, j] t; a pack of columns at a time.
  static void additive_back(Rows<const Real> queries, Rows<const Real> keys, const Real* weights,
                            Rows<const Real> d_scores, Visible visible, Rows<Real> d_queries,
                            Rows<Real> d_keys, Real* d_weights) {
    const V zero = P::all(0), one = P::all(1);
    each(queries.cols, [&](Size k, auto part) {
      const V weight = load(weights + k, part);
      V d_weight = zero;
      for (Size j = 0; j < keys.rows; ++j) store(d_keys.row(j) + k, zero, part);
      for (Size i = 0; i < queries.rows; ++i) {
        const V query = load(queries.row(i) + k, part);
        const Real* d = d_scores.row(i);
        V d_query = zero;
        for (Size j = 0, n = visible.keys_of(i); j < n; ++j) {
          const V t = tanh(query + load(keys.row(j) + k, part));
          const V d_score = P::all(d[j]), change = d_score * (one - t * t);
          d_weight = P::fma(d_score, t, d_weight);
          d_query = d_query + change;
          store(d_keys.row(j) + k, load(d_keys.row(j) + k, part) + change, part);
        }
        store(d_queries.row(i) + k, d_query * weight, part);
      }
      for (Size j = 0; j < keys.rows; ++j)
        store(d_keys.row(j) + k, load(d_keys.row(j) + k, part) * weight, part);
      if (d_weights) store(d_weights + k, load(d_weights + k, part) + d_weight, part);
    });
  }

  // f(column, columns, rows of a tile as a constant) over the panels of an output `width` wide.
  template <class F>
  [[gnu::always_inline]] static void each_panel(Size width, const F& f) {
    Size column = 0;
    for (; width - column > 3 * kWidth; column += 4 * kWidth) {
      const Size here = width - column < 4 * kWidth ? width - column : 4 * kWidth;
      f(column, here, std::integral_constant<int, P::kTileRows[4]>{});
    }
    if (const Size rest = width - column; rest > 2 * kWidth)
      f(column, rest, std::integral_constant<int, P::kTileRows[3]>{});
    else if (rest > kWidth)
      f(column, rest, std::integral_constant<int, P::kTileRows[2]>{});
    else if (rest > 0)
      f(column, rest, std::integral_constant<int, P::kTileRows[1]>{});
  }

  static void mix(Rows<const Real> pattern, Rows<const Real> values, Real factor, Visible visible,
                  Rows<Real> out) {
    const Product product{pattern.data,  pattern.stride, 1,        values.data,
                          values.stride, factor,         out.data, out.stride};
    each_panel(values.cols, [&](Size column, Size columns, auto main) {
      each_rows<main()>(pattern.rows, [&](Size row, auto rows) {
        product.template tiles<rows()>(row, column, columns, 0, visible.keys_of(row + rows() - 1));
      });
    });
  }

  static void mix_back(Rows<const Real> pattern, Rows<const Real> x, Real factor, Visible visible,
                       Rows<Real> out) {
    const Product product{pattern.data, 1,      pattern.stride, x.data,
                          x.stride,     factor, out.data,       out.stride};
    each_panel(x.cols, [&](Size column, Size columns, auto main) {
      each_rows<main()>(out.rows, [&](Size row, auto rows) {
        product.template tiles<rows()>(row, column, columns, visible.first_query_of(row), x.rows);
      });
    });
  }

  static void zero(Real* x, Size from, Size to) {
    each(to - from, [&](Size i, auto part) { store(x + from + i, P::all(0), part); });
  }

  static void pattern(Visible visible, const DropoutSource& dropout, Rows<Real> scores,
                      Real* log_sums, Size log_sum_stride) {
    for (Size i = 0; i < scores.rows; ++i) {
      Real* row = scores.row(i);
      const Size n = visible.keys_of(i);
      log_sums[i * log_sum_stride] = softmax(row, n);
      if (dropout.active()) drop_row(dropout, i, row, row, n);
      zero(row, n, scores.cols);
    }
  }

  static void pattern_back(Visible visible, const DropoutSource& dropout,
                           Rows<const Real> d_context, Rows<const Real> context,
                           const Real* log_sums, Size log_sum_stride, Rows<Real> scores,
                           Rows<Real> d) {
    for (Size i = 0; i < scores.rows; ++i) {
      Real* row = scores.row(i);
      Real* change = d.row(i);
      const Size n = visible.keys_of(i);
      const V delta = P::all(dot(d_context.row(i), context.row(i), context.cols));
      const V normalizer = P::all(log_sums[i * log_sum_stride]);
      if (dropout.active())
        each_masked(dropout, i, n, [&](Size j, auto part, V factor) {
          const V a = P::exp(load(row + j, part) - normalizer);
          store(change + j, a * (load(change + j, part) * factor - delta), part);
          store(row + j, a * factor, part);
        });
      else
        each(n, [&](Size j, auto part) {
          const V a = P::exp(load(row + j, part) - normalizer);
          store(change + j, a * (load(change + j, part) - delta), part);
          store(row + j, a, part);
        });
      zero(row, n, scores.cols);
      zero(change, n, scores.cols);
    }
  }

  static constexpr Kernels<Real> table(const char* level) {
    Kernels<Real> k{};
    k.level = level;
    k.softmax = softmax;
    k.log_sum_exp = log_sum_exp;
    k.largest = largest;
    k.inner_product = inner_product;
    k.add_scaled = add_scaled;
    k.scale = scale;
    k.add_row = add_row;
    k.add_column_sums = add_column_sums;
    k.drop = drop;
    k.add_dropped = add_dropped;
    k.normalize = normalize;
    k.normalize_backward = normalize_backward;
    k.activate = activate;
    k.multiply = multiply;
    k.to_bfloat16 = to_bfloat16;
    k.adamw = adamw;
    k.spread = spread;
    k.rotate = rotate;
    k.scores = scores;
    k.additive_scores = additive_scores;
    k.additive_back = additive_back;
    k.mix = mix;
    k.mix_back = mix_back;
    k.pattern = pattern;
    k.pattern_back = pattern_back;
    return k;
  }
};

}  // namespace
}  // namespace headcount
