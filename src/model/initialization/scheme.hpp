#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "attention/sites.hpp"
#include "base/registry.hpp"
#include "math/parameters.hpp"
#include "model/per_layer.hpp"
#include "model/sublayer.hpp"

namespace headcount {

// What one parameter's entries are drawn from: all but orthogonal ones independently.
struct Distribution {
  enum class Kind { constant, uniform, normal, orthogonal };
  Kind kind = Kind::constant;
  // The constant; the bound of U(-b, b); the standard deviation around 0; the length of the shorter
  // side's vectors, which are orthogonal, their directions uniform (Saxe et al. 2014).
  double value = 0;

  static Distribution constant(double value) { return {Kind::constant, value}; }
  static Distribution uniform(double bound) { return {Kind::uniform, bound}; }
  static Distribution normal(double deviation) { return {Kind::normal, deviation}; }
  static Distribution orthogonal(double length) { return {Kind::orthogonal, length}; }
  Distribution times(double factor) const { return {kind, factor * value}; }
};

// What a scheme may look at beside the parameter itself.
struct InitialModel {
  Site site = Site::decoder_self;
  int layers = 0;
  Index width = 0;  // D
  Activation activation = Activation::gelu;
};

struct InitializationEntry {
  About about;
  Distribution (*distribution)(const ParameterEntry& parameter, const InitialModel& model);

  // What every layer of a model must have for the scheme to mean something; empty: anything.
  std::optional<Residual> residual = std::nullopt;
  std::optional<NormPlacement> norm = std::nullopt;

  // Null, or what the ω of a sublayer start as, from a pass over a sample of the data with ω = 1:
  // the variance of what enters the first layer, then of what each sublayer below it gives.
  double (*stream_scale)(std::span<const double> variances) = nullptr;

  // Why a model is not one that this scheme is made for; "" when it is.
  std::string unfit(const PerLayer<Residual>& residuals,
                    const PerLayer<NormPlacement>& norms) const;
};

const Registry<InitializationEntry>& initialization_schemes();

// What schemes agree on, of parameters that are no weights (is_weight): biases 0, the rest 1.
Distribution neutral(ParameterRole role);
bool is_embedding(ParameterRole role);
// How many numbers a weight maps, and to how many; a row of score weights maps a head's columns to
// one score.
double fan_in(const ParameterEntry& parameter);
double fan_out(const ParameterEntry& parameter);

// Draws every parameter from its own stream, keyed by (seed, its name): a parameter that two models
// share starts out the same in both.
template <class Real>
void initialize(const InitializationEntry& scheme, const InitialModel& model, std::uint64_t seed,
                Parameters<Real>& parameters);

}  // namespace headcount
