#pragma once

#include <string_view>
#include <vector>

#include "attention/head_map.hpp"
#include "math/matrix.hpp"

namespace headcount {

// What masking a head does to it.
enum class MaskKind {
  zero,     // gate 0: nothing of the head reaches W_O, its b_V included
  mean,     // its context is replaced by a mean context
  uniform,  // its pattern is replaced by 1/n over the n visible keys (Kovaleva et al. 2019)
};

std::string_view name_of(MaskKind kind);
MaskKind parse_mask_kind(std::string_view text);  // throws Error (bad_data)
std::vector<std::string> mask_kind_names();

// What is done to every head of a model in a forward pass.
//
//   layer output = Σ_h ξ_h · context_h · W_O^h + b_O
//
// with the gate ξ_h before the output projection, and context_h as computed, or replaced.
template <class Real>
struct HeadTreatment {
  enum class Context { own, mean, uniform };

  HeadMap<Real> gate;             // ξ, one per head
  HeadMap<Context> context;       // where the context comes from
  HeadMap<RowVector<Real>> mean;  // [1, K], used where context is `mean`

  // Every head as it is.
  static HeadTreatment intact(const HeadCounts& counts);

  // Masks one head more. Kind `mean` needs the head's mean context. Throws for a head that does not
  // exist.
  void mask(const HeadId& id, MaskKind kind, const RowVector<Real>* mean_context = nullptr);
  void mask(const std::vector<HeadId>& ids, MaskKind kind,
            const HeadMap<RowVector<Real>>* means = nullptr);

  bool is_intact(const HeadId& id) const {
    return gate.at(id) == Real{1} && context.at(id) == Context::own;
  }
};

}  // namespace headcount
