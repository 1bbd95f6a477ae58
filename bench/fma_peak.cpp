#include "fma_peak.hpp"

#include <cmath>
#include <thread>
#include <vector>

#include "common.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace headcount::bench {
namespace {

#if defined(__x86_64__)

// Two units of latency 4 need 8 sums that do not wait for each other; 12 leave room.
constexpr int kSums = 12;
volatile float sink;

__attribute__((target("avx512f"))) double multiply_add_512(long times) {
  __m512 sums[kSums];
  for (auto& sum : sums) sum = _mm512_set1_ps(1.0F);
  const __m512 factor = _mm512_set1_ps(0.999999F), term = _mm512_set1_ps(1e-6F);
  for (long i = 0; i < times; ++i) {
#pragma GCC unroll 12
    for (int s = 0; s < kSums; ++s) sums[s] = _mm512_fmadd_ps(sums[s], factor, term);
  }
  for (const auto& sum : sums) sink = _mm512_cvtss_f32(sum);
  return 2.0 * 16 * kSums * static_cast<double>(times);
}

double multiply_add_256(long times) {
  __m256 sums[kSums];
  for (auto& sum : sums) sum = _mm256_set1_ps(1.0F);
  const __m256 factor = _mm256_set1_ps(0.999999F), term = _mm256_set1_ps(1e-6F);
  for (long i = 0; i < times; ++i) {
#pragma GCC unroll 12
    for (int s = 0; s < kSums; ++s) sums[s] = _mm256_fmadd_ps(sums[s], factor, term);
  }
  for (const auto& sum : sums) sink = _mm256_cvtss_f32(sum);
  return 2.0 * 8 * kSums * static_cast<double>(times);
}

double multiply_add(long times) {
  static const bool wide = __builtin_cpu_supports("avx512f");
  return wide ? multiply_add_512(times) : multiply_add_256(times);
}

#else

double multiply_add(long) { return NAN; }

#endif

}  // namespace

double fma_peak_gflops(int threads) {
  constexpr long kTimes = 4'000'000;
  std::vector<double> rates;
  for (int round = 0; round < 5; ++round) {
    std::vector<double> done(static_cast<std::size_t>(threads));
    const double seconds = seconds_of([&] {
      std::vector<std::thread> others;
      for (int t = 1; t < threads; ++t)
        others.emplace_back(
            [&done, t] { done[static_cast<std::size_t>(t)] = multiply_add(kTimes); });
      done[0] = multiply_add(kTimes);
      for (auto& thread : others) thread.join();
    });
    double flops = 0;
    for (const double part : done) flops += part;
    rates.push_back(flops / seconds / 1e9);
  }
  return median(rates);
}

}  // namespace headcount::bench
