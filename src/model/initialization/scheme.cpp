#include "model/initialization/scheme.hpp"

#include "math/random.hpp"

namespace headcount {
namespace {

// FNV-1a, 32 bits: the stream number of a parameter.
std::uint32_t stream_of(std::string_view name) {
  std::uint32_t hash = 2166136261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

double draw(const Distribution& distribution, RandomStream& stream) {
  switch (distribution.kind) {
    case Distribution::Kind::constant:
      return distribution.value;
    case Distribution::Kind::uniform:
      return distribution.value * (2 * stream.uniform() - 1);
    case Distribution::Kind::normal:
      return distribution.value * stream.normal();
  }
  return 0;
}

}  // namespace

template <class Real>
void initialize(const InitializationEntry& scheme, const ModelDepth& depth, std::uint64_t seed,
                Parameters<Real>& parameters) {
  for (const auto& entry : parameters.layout().entries()) {
    const Distribution distribution = scheme.distribution(entry, depth);
    RandomStream stream(seed, Purpose::initialization, 0, stream_of(entry.name));
    auto values = parameters.view(entry.block);
    for (Index i = 0; i < values.rows(); ++i)
      for (Index j = 0; j < values.cols(); ++j)
        values(i, j) = static_cast<Real>(draw(distribution, stream));
  }
}

template void initialize<float>(const InitializationEntry&, const ModelDepth&, std::uint64_t,
                                Parameters<float>&);
template void initialize<double>(const InitializationEntry&, const ModelDepth&, std::uint64_t,
                                 Parameters<double>&);

}  // namespace headcount
