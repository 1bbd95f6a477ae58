#include "math/random.hpp"
#include "prune/registry.hpp"

namespace headcount {
namespace {

template <class Real>
std::vector<HeadOrder> shuffled(const OrderInput<Real>& input) {
  std::vector<HeadOrder> orders;
  for (int i = 0; i < input.repeats; ++i) {
    orders.push_back(MeasureInput<Real>::of(*input.scoring, *input.treatment).heads);
    RandomStream(input.seed, Purpose::pruning_order, 0, static_cast<std::uint32_t>(i))
        .shuffle(orders.back());
  }
  return orders;
}

}  // namespace

PruningMethod at_random() {
  return {{"random", "uniformly random orders, as many as prune.orders: the control to beat",
           "Budhraja et al. 2020"},
          shuffled<float>,
          shuffled<double>};
}

}  // namespace headcount
