#include "model/positions/registry.hpp"

namespace headcount {
namespace {

template <class Real>
class None : public PositionEncoding<Real> {
 public:
  explicit None(const PositionConfig&) {}
};

}  // namespace

PositionEntry no_positions() {
  return position_entry<None>(
      {"none", "nothing tells positions apart but the mask", "Haviv et al. 2022"});
}

}  // namespace headcount
