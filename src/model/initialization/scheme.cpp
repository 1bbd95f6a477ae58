#include "model/initialization/scheme.hpp"

#include <cmath>

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
    case Distribution::Kind::orthogonal:
      break;  // not one by one
  }
  return 0;
}

// Gives rows (at most as many as columns) of normal numbers the same directions as those of the
// orthogonal factor of their QR decomposition whose triangle has a positive diagonal: then the
// factor is uniform over all (Mezzadri 2007, How to generate random matrices from the classical
// compact groups). By Gram-Schmidt, each row twice, which is as orthogonal as rounding allows; a
// library's blocked decomposition rounds as the processor's caches are.
void orthogonalize(double length, Matrix<double>& rows) {
  const auto& kernel = kernels<double>();
  const auto row = [&](Index i) {
    return Rows<const double>{rows.row(i).data(), 1, rows.cols(), 0};
  };
  for (Index i = 0; i < rows.rows(); ++i) {
    for (int pass = 0; pass < 2; ++pass)
      for (Index j = 0; j < i; ++j)
        kernel.add_scaled(-kernel.inner_product(row(j), row(i)), rows.row(j).data(),
                          rows.row(i).data(), rows.cols());
    kernel.scale(1 / std::sqrt(kernel.inner_product(row(i), row(i))), rows.row(i).data(),
                 rows.cols());
  }
  rows *= length;
}

}  // namespace

std::string InitializationEntry::unfit(const PerLayer<Residual>& residuals,
                                       const PerLayer<NormPlacement>& norms) const {
  const auto needs = [&](const char* key, std::string_view value) {
    return fmt::format("initialization scheme {} needs {} = {} in every layer", about.name, key,
                       value);
  };
  if (residual && !residuals.all(*residual)) return needs("model.residual", name_of(*residual));
  if (norm && !norms.all(*norm)) return needs("model.norm", name_of(*norm));
  return "";
}

Distribution neutral(ParameterRole role) {
  return Distribution::constant(role == ParameterRole::bias ? 0 : 1);
}

bool is_embedding(ParameterRole role) {
  return role == ParameterRole::token_embedding || role == ParameterRole::position_embedding;
}

double fan_in(const ParameterEntry& parameter) {
  const auto& block = parameter.block;
  return static_cast<double>(parameter.role == ParameterRole::score ? block.cols : block.rows);
}
double fan_out(const ParameterEntry& parameter) {
  return parameter.role == ParameterRole::score ? 1 : static_cast<double>(parameter.block.cols);
}

template <class Real>
void initialize(const InitializationEntry& scheme, const InitialModel& model, std::uint64_t seed,
                Parameters<Real>& parameters) {
  for (const auto& entry : parameters.layout().entries()) {
    const Distribution distribution = scheme.distribution(entry, model);
    RandomStream stream(seed, Purpose::initialization, 0, stream_of(entry.name));
    auto values = parameters.view(entry.block);
    if (distribution.kind != Distribution::Kind::orthogonal) {
      for (Index i = 0; i < values.rows(); ++i)
        for (Index j = 0; j < values.cols(); ++j)
          values(i, j) = static_cast<Real>(draw(distribution, stream));
      continue;
    }
    const bool wide = values.rows() <= values.cols();
    Matrix<double> rows(wide ? values.rows() : values.cols(), wide ? values.cols() : values.rows());
    for (Index i = 0; i < rows.size(); ++i) rows.data()[i] = stream.normal();
    orthogonalize(distribution.value, rows);
    if (wide)
      values = rows.cast<Real>();
    else
      values = rows.transpose().cast<Real>();
  }
}

template void initialize<float>(const InitializationEntry&, const InitialModel&, std::uint64_t,
                                Parameters<float>&);
template void initialize<double>(const InitializationEntry&, const InitialModel&, std::uint64_t,
                                 Parameters<double>&);

}  // namespace headcount
