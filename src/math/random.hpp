#pragma once

#include <array>
#include <cstdint>

namespace headcount {

// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): ten rounds of
// a keyed bijection of a 128-bit counter. No state: the same key and counter give the same numbers
// on any thread, in any order.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

// What random numbers are drawn for. Values are part of every result: never renumber.
enum class Purpose : std::uint32_t {
  initialization = 1,
  data_order = 2,
  dropout = 3,
  synthetic_data = 4,
  pruning_order = 5,
  measure = 6,
  bootstrap = 7,
  hidden_tokens = 8,
};

// The numbers that belong to (seed, purpose, step, item): key = seed, counter = (draw, item, step,
// purpose).
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, Purpose purpose, std::uint32_t step, std::uint32_t item)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        counter_{0, item, step, static_cast<std::uint32_t>(purpose)} {}

  std::uint32_t next();  // uniform over 32 bits
  double uniform();      // [0, 1), 53 bits
  double normal();       // mean 0, variance 1 (Box-Muller)
  std::uint32_t below(
      std::uint32_t bound);  // uniform over 0 .. bound-1, exact (Lemire 2019); bound > 0

  // Fisher-Yates.
  template <class Container>
  void shuffle(Container& items) {
    for (auto n = static_cast<std::uint32_t>(items.size()); n > 1; --n) {
      using std::swap;
      swap(items[n - 1], items[below(n)]);
    }
  }

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  int used_ = 4;
  bool has_spare_ = false;
  double spare_ = 0;
};

}  // namespace headcount
