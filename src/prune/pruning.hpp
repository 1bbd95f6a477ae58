#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/registry.hpp"
#include "measure/measure.hpp"

namespace headcount {

// What an order of heads may be made from. Chosen here, reported elsewhere: `scoring` must not be
// the split the curve is measured on.
template <class Real>
struct OrderInput {
  const Evaluator<Real>* scoring = nullptr;
  const HeadTreatment<Real>* treatment = nullptr;  // masks already in force
  std::uint64_t seed = 0;
  int repeats = 1;  // orders that a random method makes
  std::vector<int>
      removals;  // how many heads are gone at each point of the curve, ascending, 0 first
};

// Heads in the order they go, first to last; all present, unmasked heads once.
using HeadOrder = std::vector<HeadId>;

struct PruningMethod {
  About about;
  std::vector<HeadOrder> (*orders_float)(const OrderInput<float>&);
  std::vector<HeadOrder> (*orders_double)(const OrderInput<double>&);

  template <class Real>
  std::vector<HeadOrder> orders(const OrderInput<Real>& input) const {
    if constexpr (std::is_same_v<Real, float>)
      return orders_float(input);
    else
      return orders_double(input);
  }
};

const Registry<PruningMethod>& pruning_methods();

}  // namespace headcount
