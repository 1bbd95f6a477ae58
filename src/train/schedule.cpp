#include "train/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/enumeration.hpp"

namespace headcount {
namespace {
constexpr auto kSchedules =
    enumeration<ScheduleKind>("schedule", "constant", "cosine", "inverse-square-root");
}

std::string_view name_of(ScheduleKind kind) { return kSchedules.name(kind); }
std::vector<std::string> schedule_names() { return kSchedules.names(); }
ScheduleKind parse_schedule(std::string_view text) { return kSchedules.parse(text); }

double Schedule::at(std::int64_t step) const {
  const double now = static_cast<double>(step), ramp = static_cast<double>(warm_up);
  if (step < warm_up) return peak * now / ramp;
  switch (kind) {
    case ScheduleKind::constant:
      return peak;
    case ScheduleKind::cosine: {
      const double rest = static_cast<double>(std::max<std::int64_t>(steps - warm_up, 1));
      return peak * 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, (now - ramp) / rest)));
    }
    case ScheduleKind::inverse_square_root:
      return peak * std::sqrt(std::max(ramp, 1.0) / std::max(now, 1.0));
  }
  return peak;
}

}  // namespace headcount
