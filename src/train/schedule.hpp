#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headcount {

enum class ScheduleKind {
  constant,             // peak
  cosine,               // peak · ½(1 + cos π p), p the share of the steps after warm-up
  inverse_square_root,  // peak · √(warm-up / step), as in Vaswani et al. 2017, section 5.3
};

std::string_view name_of(ScheduleKind kind);
std::vector<std::string> schedule_names();
ScheduleKind parse_schedule(std::string_view text);  // throws Error (bad_data)

// Learning rate by step: linear from 0 to `peak` over the first `warm_up` steps, then as the kind
// says.
struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  double peak = 0;
  std::int64_t warm_up = 0;
  std::int64_t steps = 0;

  double at(std::int64_t step) const;  // step 1 is the first
};

}  // namespace headcount
