// Eight floats (AVX2, FMA).

#include <cstdint>

#include <immintrin.h>

namespace headcount {
namespace {

struct Avx2Pack {
  using Real = float;
  using V = __m256;
  static constexpr Size kWidth = 8;
  // Rows of a product's tile by its width in vectors: as many sums as sixteen registers can hold.
  static constexpr Size kTileRows[5] = {0, 8, 6, 4, 3};

  static __m256i first(Size n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static V all(float x) { return _mm256_set1_ps(x); }
  static V load(const float* p) { return _mm256_loadu_ps(p); }
  static V load(const float* p, Size n) { return _mm256_maskload_ps(p, first(n)); }
  static V load(const float* p, Size n, float rest) {
    return _mm256_blendv_ps(all(rest), _mm256_maskload_ps(p, first(n)),
                            _mm256_castsi256_ps(first(n)));
  }
  static void store(float* p, V x) { _mm256_storeu_ps(p, x); }
  static void store(float* p, V x, Size n) { _mm256_maskstore_ps(p, first(n), x); }
  static V fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
  static V max(V a, V b) { return _mm256_max_ps(a, b); }  // b if one is not a number
  static V sqrt(V x) { return _mm256_sqrt_ps(x); }
  static V where_negative(V x, V yes, V no) { return _mm256_blendv_ps(no, yes, x); }
  static V abs(V x) { return _mm256_andnot_ps(all(-0.0F), x); }
  static float sum(V x) {
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
  }
  static float largest(V x) {
    __m128 half = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    half = _mm_max_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_max_ss(half, _mm_movehdup_ps(half)));
  }

  // exp(x) = 2ⁿ exp(r), |r| ≤ ½ ln 2; relative error below 2e-7. What would be smaller than the
  // least normal float is 0: processors take a hundred times as long for numbers in between.
  static V exp(V x) {
    const V normal = _mm256_cmp_ps(x, all(-87.3F), _CMP_NLT_UQ);  // or no number
    // In this order a number that is none stays none.
    x = _mm256_min_ps(all(89), _mm256_max_ps(all(-87.3F), x));
    const V n = _mm256_round_ps(x * all(1.44269504F), _MM_FROUND_TO_NEAREST_INT);
    V r = fma(n, all(-0.693359375F), x);
    r = fma(n, all(2.12194440e-4F), r);
    // In two factors, since 2¹²⁸ itself is too large for a float.
    const __m256i whole = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(whole, 1);
    const auto power = [](__m256i e) {
      return _mm256_castsi256_ps(
          _mm256_slli_epi32(_mm256_add_epi32(e, _mm256_set1_epi32(127)), 23));
    };
    const V value =
        exp_polynomial<Avx2Pack>(r) * power(half) * power(_mm256_sub_epi32(whole, half));
    return _mm256_and_ps(normal, value);
  }
  // ln x of normal numbers: x = 2ⁿ m, m from √½ to √2.
  static V log(V x) {
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i root_half = _mm256_set1_epi32(0x3F3504F3);
    const __m256i n = _mm256_srai_epi32(_mm256_sub_epi32(bits, root_half), 23);
    const V m = _mm256_castsi256_ps(_mm256_sub_epi32(bits, _mm256_slli_epi32(n, 23)));
    return log_approximation<Avx2Pack>(_mm256_cvtepi32_ps(n), m - all(1));
  }
  static V half_erfc(V z, V exp_minus_square) {
    return half_erfc_approximation<Avx2Pack>(z, exp_minus_square);
  }

  static void to_bfloat16(V x, std::uint16_t* to) {
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded =
        _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)));
    const __m256i none = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    const __m256i kept = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    const __m256i upper = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, kept, none), 16);
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(upper, upper), 0x08);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(packed));
  }

  struct Mask {
    V factor[4];
    V at(Size i) const { return factor[i / 8]; }
  };
  static Mask mask(const DropoutSource& source, std::uint32_t row, std::uint32_t block) {
    Mask mask;
    const __m256i m0 = _mm256_set1_epi64x(0xD2511F53), m1 = _mm256_set1_epi64x(0xCD9E8D57);
    // Unsigned numbers compare as signed ones with the sign bit turned.
    const __m256i turn = _mm256_set1_epi32(static_cast<int>(0x80000000));
    const __m256i threshold =
        _mm256_xor_si256(_mm256_set1_epi32(static_cast<int>(source.threshold)), turn);
    const V scale = all(static_cast<float>(source.scale));
    for (std::size_t half = 0; half < 2; ++half) {
      // Four counters, one in each 64-bit lane, of which Philox uses the lower half.
      __m256i c0 = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<std::int64_t>(block) * 8 +
                                                       static_cast<std::int64_t>(half) * 4),
                                    _mm256_setr_epi64x(0, 1, 2, 3));
      __m256i c1 = _mm256_set1_epi64x(row), c2 = _mm256_set1_epi64x(source.step),
              c3 = _mm256_set1_epi64x(source.purpose);
      std::uint32_t k0 = source.key[0], k1 = source.key[1];
      for (int round = 0; round < 10; ++round) {
        const __m256i p0 = _mm256_mul_epu32(m0, c0), p1 = _mm256_mul_epu32(m1, c2);
        c0 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p1, 32), c1),
                              _mm256_set1_epi64x(k0));
        c2 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p0, 32), c3),
                              _mm256_set1_epi64x(k1));
        c1 = p1;
        c3 = p0;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
      }
      const auto factor = [&](__m256i even, __m256i odd) {
        const __m256i draws = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
        const __m256i dropped = _mm256_cmpgt_epi32(threshold, _mm256_xor_si256(draws, turn));
        return _mm256_andnot_ps(_mm256_castsi256_ps(dropped), scale);
      };
      mask.factor[half] = factor(c0, c1);
      mask.factor[2 + half] = factor(c2, c3);
    }
    return mask;
  }

  // y[j, i] = x[i, j], x 8 × 8.
  static void transpose_tile(const float* x, Size x_stride, float* y, Size y_stride) {
    V a[8], b[8];
    for (int i = 0; i < 8; ++i) a[i] = load(x + i * x_stride);
    for (int i = 0; i < 8; i += 2) {
      b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
      b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {  // a[i + c]: columns c and c + 4 of rows i .. i+3
      a[i] = _mm256_shuffle_ps(b[i], b[i + 2], 0x44);
      a[i + 1] = _mm256_shuffle_ps(b[i], b[i + 2], 0xEE);
      a[i + 2] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0x44);
      a[i + 3] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0xEE);
    }
    for (int c = 0; c < 4; ++c) {
      store(y + c * y_stride, _mm256_permute2f128_ps(a[c], a[4 + c], 0x20));
      store(y + (c + 4) * y_stride, _mm256_permute2f128_ps(a[c], a[4 + c], 0x31));
    }
  }
};

}  // namespace
}  // namespace headcount
