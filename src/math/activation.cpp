#include "math/activation.hpp"

#include "base/registry.hpp"

namespace headcount {
namespace {

struct ActivationEntry {
  About about;
  Activation activation;
};

const Registry<ActivationEntry>& activations() {
  static const Registry<ActivationEntry> registry(
      "activation", {{{"relu", "max(0, x)", ""}, Activation::relu},
                     {{"gelu", "x Φ(x)", "Hendrycks & Gimpel 2016"}, Activation::gelu},
                     {{"gelu-tanh", "tanh approximation of gelu", "Hendrycks & Gimpel 2016"},
                      Activation::gelu_tanh}});
  return registry;
}

}  // namespace

std::string_view name_of(Activation activation) {
  return activations().entries()[static_cast<std::size_t>(activation)].about.name;
}

Activation parse_activation(std::string_view name) { return activations().at(name).activation; }

template <class Real>
void activate(Activation activation, ConstMatrixRef<Real> bias, MatrixRef<Real> x,
              MatrixRef<Real>* slope, std::uint16_t* rounded) {
  kernels<Real>().activate(activation, bias.data(), rows_of<Real>(x),
                           slope ? rows_of<Real>(*slope) : Rows<Real>{}, rounded);
}

template <class Real>
void activate_backward(ConstMatrixRef<Real> slope, MatrixRef<Real> d, MatrixRef<Real>* d_bias,
                       std::uint16_t* rounded) {
  kernels<Real>().multiply(const_rows_of<Real>(slope), rows_of<Real>(d),
                           d_bias ? d_bias->data() : nullptr, rounded);
}

#define HEADCOUNT_INSTANTIATE(Real)                                                              \
  template void activate<Real>(Activation, ConstMatrixRef<Real>, MatrixRef<Real>,                \
                               MatrixRef<Real>*, std::uint16_t*);                                \
  template void activate_backward<Real>(ConstMatrixRef<Real>, MatrixRef<Real>, MatrixRef<Real>*, \
                                        std::uint16_t*);
HEADCOUNT_INSTANTIATE(float)
HEADCOUNT_INSTANTIATE(double)
#undef HEADCOUNT_INSTANTIATE

}  // namespace headcount
