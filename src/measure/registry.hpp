#pragma once

#include "measure/measure.hpp"

namespace headcount {

MeasureEntry entropy();
MeasureEntry normalized_entropy();
MeasureEntry confidence();
MeasureEntry distance();
MeasureEntry gradient_importance();
MeasureEntry ablation_importance();

}  // namespace headcount
