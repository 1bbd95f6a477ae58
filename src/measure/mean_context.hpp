#pragma once

#include "evaluate/evaluator.hpp"

namespace headcount {

// The mean context [1, K] of every present head over all positions of the evaluator's examples,
// under the treatment: what mask kind `mean` puts in a head's place.
template <class Real>
HeadMap<RowVector<Real>> mean_contexts(const Evaluator<Real>& evaluator,
                                       const HeadTreatment<Real>& treatment);

}  // namespace headcount
