// One number at a time: the portable level, and all of double.

#include <cmath>
#include <cstdint>

namespace headcount {
namespace {

template <class Number>
struct ScalarPack {
  using Real = Number;
  using V = Number;
  static constexpr Size kWidth = 1;
  static constexpr Size kTileRows[5] = {0, 4, 4, 4, 4};

  static V all(Real x) { return x; }
  static V load(const Real* p) { return *p; }
  static V load(const Real* p, Size) { return *p; }
  static V load(const Real* p, Size, Real) { return *p; }
  static void store(Real* p, V x) { *p = x; }
  static void store(Real* p, V x, Size) { *p = x; }
  static V fma(V a, V b, V c) { return a * b + c; }
  static V max(V a, V b) { return b < a ? a : b; }
  static V sqrt(V x) { return std::sqrt(x); }
  static V exp(V x) { return std::exp(x); }
  static V log(V x) { return std::log(x); }
  static V where_negative(V x, V yes, V no) { return x < 0 ? yes : no; }
  static V abs(V x) { return std::abs(x); }
  static Real sum(V x) { return x; }
  static Real largest(V x) { return x; }

  static void to_bfloat16(V x, std::uint16_t* to) { *to = bfloat16(static_cast<float>(x)); }

  // ½ erfc(z) and exp(-z²), z ≥ 0.
  static V half_erfc(V z, V) { return Number{0.5} * std::erfc(z); }

  // What 32 columns of a row are multiplied by; see Dropout for which number belongs to which.
  struct Mask {
    Real factor[32];
    V at(Size i) const { return factor[i]; }
  };
  static Mask mask(const DropoutSource& source, std::uint32_t row, std::uint32_t block) {
    Mask mask;
    for (std::uint32_t lane = 0; lane < 8; ++lane) {
      std::uint32_t c[4] = {block * 8 + lane, row, source.step, source.purpose};
      std::uint32_t key[2] = {source.key[0], source.key[1]};
      for (int round = 0; round < 10; ++round) {
        const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c[0];
        const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * c[2];
        c[0] = static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ key[0];
        c[2] = static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ key[1];
        c[1] = static_cast<std::uint32_t>(p1);
        c[3] = static_cast<std::uint32_t>(p0);
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
      }
      for (std::uint32_t word = 0; word < 4; ++word)
        mask.factor[word / 2 * 16 + 2 * lane + word % 2] =
            c[word] < source.threshold ? Real{0} : static_cast<Real>(source.scale);
    }
    return mask;
  }

  static void transpose_tile(const Real* x, Size, Real* y, Size) { *y = *x; }
};

}  // namespace
}  // namespace headcount
