#include "train/schedule.hpp"

#include <cmath>

#include <rapidcheck.h>

#include "base/error.hpp"
#include "catch.hpp"

namespace headcount {
namespace {

TEST_CASE("the learning rate rises linearly over the warm-up, whatever follows") {
  for (const auto kind :
       {ScheduleKind::constant, ScheduleKind::cosine, ScheduleKind::inverse_square_root}) {
    const Schedule schedule{kind, 0.8, 4, 12};
    CHECK(schedule.at(1) == Approx(0.2));
    CHECK(schedule.at(2) == Approx(0.4));
    CHECK(schedule.at(3) == Approx(0.6));
    CHECK(schedule.at(4) == Approx(0.8));
  }
}

TEST_CASE("after the warm-up each kind goes its way") {
  const Schedule constant{ScheduleKind::constant, 0.8, 4, 12};
  CHECK(constant.at(5) == 0.8);
  CHECK(constant.at(12) == 0.8);

  const Schedule cosine{ScheduleKind::cosine, 0.8, 4, 12};
  CHECK(cosine.at(6) == Approx(0.4 * (1 + std::sqrt(0.5))));
  CHECK(cosine.at(8) == Approx(0.4));
  CHECK(cosine.at(12) == Approx(0.0).margin(1e-15));

  const Schedule root{ScheduleKind::inverse_square_root, 0.8, 4, 100};
  CHECK(root.at(16) == Approx(0.4));
  CHECK(root.at(100) == Approx(0.16));
}

TEST_CASE("without warm-up the first step is at the peak, or as near as the kind allows") {
  CHECK(Schedule{ScheduleKind::constant, 0.5, 0, 10}.at(1) == 0.5);
  CHECK(Schedule{ScheduleKind::inverse_square_root, 0.5, 0, 10}.at(1) == 0.5);
  CHECK(Schedule{ScheduleKind::inverse_square_root, 0.5, 0, 10}.at(4) == Approx(0.25));
  CHECK(Schedule{ScheduleKind::cosine, 0.5, 0, 10}.at(5) == Approx(0.25));
}

TEST_CASE("every schedule rises to its peak and never exceeds it or falls below 0") {
  REQUIRE(rc::check("schedules", [] {
    const auto kind = static_cast<ScheduleKind>(*rc::gen::inRange(0, 3));
    const auto warm_up = *rc::gen::inRange<std::int64_t>(0, 50);
    const auto steps = *rc::gen::inRange<std::int64_t>(1, 100);
    const Schedule schedule{kind, 0.25, warm_up, steps};
    double before = 0;
    for (std::int64_t step = 1; step <= steps; ++step) {
      const double now = schedule.at(step);
      RC_ASSERT(now >= 0);
      RC_ASSERT(now <= 0.25 * (1 + 1e-12));
      if (step > 1) RC_ASSERT((step <= warm_up ? now > before : now <= before * (1 + 1e-12)));
      before = now;
    }
  }));
}

TEST_CASE("schedules have names") {
  for (const auto& name : schedule_names()) CHECK(name_of(parse_schedule(name)) == name);
  CHECK_THROWS_WITH(parse_schedule("cosin"), ContainsSubstring("did you mean 'cosine'?"));
}

}  // namespace
}  // namespace headcount
