#include "math/dropout.hpp"

namespace headcount {

template <class Real>
void Dropout::apply(Real* x, Index n, std::uint32_t place, std::uint32_t row,
                    std::uint32_t first_column) const {
  if (!active()) return;
  const auto threshold = static_cast<std::uint32_t>(rate * 0x1p32);
  const Real scale = static_cast<Real>(1 / (1 - rate));
  const std::array<std::uint32_t, 2> key{static_cast<std::uint32_t>(seed),
                                         static_cast<std::uint32_t>(seed >> 32)};
  const std::uint32_t purpose = static_cast<std::uint32_t>(Purpose::dropout) | place << 8;
  for (Index column = 0; column < n; column += 4) {
    const auto draw =
        philox({(first_column + static_cast<std::uint32_t>(column)) / 4, row, step, purpose}, key);
    for (Index j = 0; j < 4 && column + j < n; ++j)
      x[column + j] *= draw[static_cast<std::size_t>(j)] < threshold ? Real{0} : scale;
  }
}

template void Dropout::apply<float>(float*, Index, std::uint32_t, std::uint32_t,
                                    std::uint32_t) const;
template void Dropout::apply<double>(double*, Index, std::uint32_t, std::uint32_t,
                                     std::uint32_t) const;

}  // namespace headcount
