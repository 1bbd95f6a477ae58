#pragma once

#include "attention/scores/score_function.hpp"

namespace headcount {

ScoreEntry scaled_dot_score();
ScoreEntry dot_score();
ScoreEntry additive_score();

}  // namespace headcount
