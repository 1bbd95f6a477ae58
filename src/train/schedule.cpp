#include "train/schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace headcount {
namespace {
constexpr std::array<std::string_view, 3> kNames{"constant", "cosine", "inverse-square-root"};
}

std::string_view name_of(ScheduleKind kind) { return kNames.at(static_cast<std::size_t>(kind)); }

std::vector<std::string> schedule_names() { return {kNames.begin(), kNames.end()}; }

ScheduleKind parse_schedule(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == text) return static_cast<ScheduleKind>(i);
  throw Error(ExitCode::bad_data,
              fmt::format("unknown schedule '{}'{} (known: {})", text,
                          did_you_mean(text, schedule_names()), join(schedule_names(), ", ")));
}

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
