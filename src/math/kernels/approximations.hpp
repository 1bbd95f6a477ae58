#include <cstdint>

namespace headcount {
namespace {

inline std::uint16_t bfloat16(float x) {
  std::uint32_t bits = 0;
  __builtin_memcpy(&bits, &x, sizeof bits);
  if (x != x) return static_cast<std::uint16_t>(bits >> 16 | 0x40);  // stays no number
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

// Polynomials by weighted minimax fits over the range each is used on.

// exp(r), |r| ≤ ½ ln 2; relative error 3e-9 before rounding.
template <class P>
typename P::V exp_polynomial(typename P::V r) {
  typename P::V sum = P::fma(P::all(0.00138144669F), r, P::all(0.00836878041F));
  sum = P::fma(sum, r, P::all(0.0416683942F));
  sum = P::fma(sum, r, P::all(0.166665201F));
  sum = P::fma(sum, r, P::all(0.499999934F));
  sum = P::fma(sum, r, P::all(1));
  return P::fma(sum, r, P::all(1));
}

// ln(2ⁿ (1 + f)), √½ ≤ 1 + f < √2, with ln(1 + f) as f - f²/2 + f³ p(f); relative error 6e-9 before
// rounding.
template <class P>
typename P::V log_approximation(typename P::V n, typename P::V f) {
  typename P::V sum = P::fma(P::all(-0.0763449669F), f, P::all(0.127615765F));
  sum = P::fma(sum, f, P::all(-0.131601825F));
  sum = P::fma(sum, f, P::all(0.142017573F));
  sum = P::fma(sum, f, P::all(-0.166233569F));
  sum = P::fma(sum, f, P::all(0.200012267F));
  sum = P::fma(sum, f, P::all(-0.250008196F));
  sum = P::fma(sum, f, P::all(0.333333313F));
  const typename P::V square = f * f;
  typename P::V rest = P::fma(sum * f, square, n * P::all(-2.12194440e-4F));
  rest = P::fma(square, P::all(-0.5F), rest);
  return P::fma(n, P::all(0.693359375F), f + rest);
}

// ½ erfc(z), z ≥ 0, as exp(-z²) t p(t) with t = 1 / (1 + 0.3275911 z), the form of Abramowitz &
// Stegun 7.1.26 with more terms; relative error 1.1e-7 up to z = 9.5 before rounding.
template <class P>
typename P::V half_erfc_approximation(typename P::V z, typename P::V exp_minus_square) {
  const typename P::V t = P::all(1) / P::fma(P::all(0.3275911F), z, P::all(1));
  typename P::V sum = P::fma(P::all(-0.0708309408F), t, P::all(0.24943792F));
  sum = P::fma(sum, t, P::all(-0.204797854F));
  sum = P::fma(sum, t, P::all(0.228279013F));
  sum = P::fma(sum, t, P::all(0.0118592296F));
  sum = P::fma(sum, t, P::all(0.103198587F));
  sum = P::fma(sum, t, P::all(0.0903250621F));
  sum = P::fma(sum, t, P::all(0.0925290373F));
  return exp_minus_square * t * sum;
}

}  // namespace
}  // namespace headcount
