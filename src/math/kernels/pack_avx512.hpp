// Sixteen floats (AVX-512 F, DQ, BW, VL).

#include <cstdint>

#include <immintrin.h>

namespace headcount {
namespace {

struct Avx512Pack {
  using Real = float;
  using V = __m512;
  static constexpr Size kWidth = 16;
  // Rows of a product's tile by its width in vectors: enough sums to hide the latency of fma.
  static constexpr Size kTileRows[5] = {0, 16, 8, 8, 6};

  static __mmask16 first(Size n) { return static_cast<__mmask16>((1U << n) - 1); }
  static V all(float x) { return _mm512_set1_ps(x); }
  static V load(const float* p) { return _mm512_loadu_ps(p); }
  static V load(const float* p, Size n) { return _mm512_maskz_loadu_ps(first(n), p); }
  static V load(const float* p, Size n, float rest) {
    return _mm512_mask_loadu_ps(all(rest), first(n), p);
  }
  static void store(float* p, V x) { _mm512_storeu_ps(p, x); }
  static void store(float* p, V x, Size n) { _mm512_mask_storeu_ps(p, first(n), x); }
  static V fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
  static V max(V a, V b) { return _mm512_max_ps(a, b); }  // b if one is not a number
  static V sqrt(V x) { return _mm512_sqrt_ps(x); }
  static V where_negative(V x, V yes, V no) {
    return _mm512_mask_blend_ps(_mm512_movepi32_mask(_mm512_castps_si512(x)), no, yes);
  }
  static V abs(V x) { return _mm512_abs_ps(x); }
  static float sum(V x) {
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    __m128 quarter = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
    quarter = _mm_add_ps(quarter, _mm_movehl_ps(quarter, quarter));
    return _mm_cvtss_f32(_mm_add_ss(quarter, _mm_movehdup_ps(quarter)));
  }
  static float largest(V x) { return _mm512_reduce_max_ps(x); }

  // exp(x) = 2ⁿ exp(r), |r| ≤ ½ ln 2; relative error below 2e-7. What would be smaller than the
  // least normal float is 0: processors take a hundred times as long for numbers in between.
  static V exp(V x) {
    const __mmask16 normal = _mm512_cmp_ps_mask(x, all(-87.3F), _CMP_NLT_UQ);  // or no number
    x = _mm512_min_ps(all(89), x);  // in this order a number that is none stays none
    const V n = _mm512_roundscale_ps(x * all(1.44269504F), _MM_FROUND_TO_NEAREST_INT);
    V r = fma(n, all(-0.693359375F), x);
    r = fma(n, all(2.12194440e-4F), r);
    return _mm512_maskz_scalef_ps(normal, exp_polynomial<Avx512Pack>(r), n);
  }
  // ln x of normal numbers: x = 2ⁿ m, m from √½ to √2.
  static V log(V x) {
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i root_half = _mm512_set1_epi32(0x3F3504F3);
    const __m512i n = _mm512_srai_epi32(_mm512_sub_epi32(bits, root_half), 23);
    const V m = _mm512_castsi512_ps(_mm512_sub_epi32(bits, _mm512_slli_epi32(n, 23)));
    return log_approximation<Avx512Pack>(_mm512_cvtepi32_ps(n), m - all(1));
  }
  static V half_erfc(V z, V exp_minus_square) {
    return half_erfc_approximation<Avx512Pack>(z, exp_minus_square);
  }

  static void to_bfloat16(V x, std::uint16_t* to) {
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF)));
    const __mmask16 none = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    rounded = _mm512_mask_or_epi32(rounded, none, bits, _mm512_set1_epi32(0x400000));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16)));
  }

  struct Mask {
    V factor[2];
    V at(Size i) const { return factor[i / 16]; }
  };
  static Mask mask(const DropoutSource& source, std::uint32_t row, std::uint32_t block) {
    // Eight counters, one in each 64-bit lane, of which Philox uses the lower half.
    __m512i c0 = _mm512_add_epi64(_mm512_set1_epi64(static_cast<std::int64_t>(block) * 8),
                                  _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
    __m512i c1 = _mm512_set1_epi64(row), c2 = _mm512_set1_epi64(source.step),
            c3 = _mm512_set1_epi64(source.purpose);
    const __m512i m0 = _mm512_set1_epi64(0xD2511F53), m1 = _mm512_set1_epi64(0xCD9E8D57);
    std::uint32_t k0 = source.key[0], k1 = source.key[1];
    for (int round = 0; round < 10; ++round) {
      const __m512i p0 = _mm512_mul_epu32(m0, c0), p1 = _mm512_mul_epu32(m1, c2);
      constexpr int kXor3 = 0x96;
      c0 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p1, 32), c1, _mm512_set1_epi64(k0), kXor3);
      c2 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p0, 32), c3, _mm512_set1_epi64(k1), kXor3);
      c1 = p1;
      c3 = p0;
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    const __m512i threshold = _mm512_set1_epi32(static_cast<int>(source.threshold));
    const V scale = all(static_cast<float>(source.scale));
    const auto factor = [&](__m512i even, __m512i odd) {
      const __m512i draws = _mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32));
      return _mm512_maskz_mov_ps(_mm512_cmpge_epu32_mask(draws, threshold), scale);
    };
    return {{factor(c0, c1), factor(c2, c3)}};
  }

  // y[j, i] = x[i, j], x 16 × 16.
  static void transpose_tile(const float* x, Size x_stride, float* y, Size y_stride) {
    V a[16], b[16];
    for (int i = 0; i < 16; ++i) a[i] = load(x + i * x_stride);
    for (int i = 0; i < 16; i += 2) {
      b[i] = _mm512_unpacklo_ps(a[i], a[i + 1]);
      b[i + 1] = _mm512_unpackhi_ps(a[i], a[i + 1]);
    }
    const auto pair = [](V u, V v, bool high) {
      const __m512d ud = _mm512_castps_pd(u), vd = _mm512_castps_pd(v);
      return _mm512_castpd_ps(high ? _mm512_unpackhi_pd(ud, vd) : _mm512_unpacklo_pd(ud, vd));
    };
    for (int i = 0; i < 16; i += 4) {  // a[i + c]: columns c, c + 4, c + 8, c + 12 of rows i .. i+3
      a[i] = pair(b[i], b[i + 2], false);
      a[i + 1] = pair(b[i], b[i + 2], true);
      a[i + 2] = pair(b[i + 1], b[i + 3], false);
      a[i + 3] = pair(b[i + 1], b[i + 3], true);
    }
    for (int c = 0; c < 4; ++c) {
      const V low = _mm512_shuffle_f32x4(a[c], a[4 + c], 0x88);
      const V high = _mm512_shuffle_f32x4(a[c], a[4 + c], 0xDD);
      const V low2 = _mm512_shuffle_f32x4(a[8 + c], a[12 + c], 0x88);
      const V high2 = _mm512_shuffle_f32x4(a[8 + c], a[12 + c], 0xDD);
      store(y + c * y_stride, _mm512_shuffle_f32x4(low, low2, 0x88));
      store(y + (c + 8) * y_stride, _mm512_shuffle_f32x4(low, low2, 0xDD));
      store(y + (c + 4) * y_stride, _mm512_shuffle_f32x4(high, high2, 0x88));
      store(y + (c + 12) * y_stride, _mm512_shuffle_f32x4(high, high2, 0xDD));
    }
  }
};

}  // namespace
}  // namespace headcount
