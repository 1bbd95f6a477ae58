#pragma once

#include <cstdint>

#include "base/registry.hpp"
#include "math/parameters.hpp"

namespace headcount {

// What one parameter's entries are drawn from, independently.
struct Distribution {
  enum class Kind { constant, uniform, normal };
  Kind kind = Kind::constant;
  double value = 0;  // the constant; the bound of U(-b, b); the standard deviation around 0

  static Distribution constant(double value) { return {Kind::constant, value}; }
  static Distribution uniform(double bound) { return {Kind::uniform, bound}; }
  static Distribution normal(double deviation) { return {Kind::normal, deviation}; }
};

// What a scheme may look at beside the parameter itself.
struct ModelDepth {
  int layers = 0;
  Index width = 0;  // D
};

struct InitializationEntry {
  About about;
  Distribution (*distribution)(const ParameterEntry& parameter, const ModelDepth& depth);
};

const Registry<InitializationEntry>& initialization_schemes();

// Draws every parameter from its own stream, keyed by (seed, its name): a parameter that two models
// share starts out the same in both.
template <class Real>
void initialize(const InitializationEntry& scheme, const ModelDepth& depth, std::uint64_t seed,
                Parameters<Real>& parameters);

}  // namespace headcount
