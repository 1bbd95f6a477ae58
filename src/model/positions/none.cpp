#include "model/positions/registry.hpp"

namespace headcount {
namespace {

template <class Real>
std::unique_ptr<PositionEncoding<Real>> make(const PositionConfig&, ParameterLayout&) {
  return std::make_unique<PositionEncoding<Real>>();
}

}  // namespace

PositionEntry no_positions() {
  return {{"none", "nothing tells positions apart but the mask", "Haviv et al. 2022"},
          make<float>,
          make<double>};
}

}  // namespace headcount
