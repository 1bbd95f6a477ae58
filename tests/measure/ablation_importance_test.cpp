#include "catch.hpp"
#include "measure/measure.hpp"
#include "support/toy.hpp"

namespace headcount {
namespace {

template <class Real>
void check_ablations(double tolerance) {
  const ToyTask task;
  const Model<Real> model(toy_config());
  auto parameters = toy_parameters(model, 3);
  // Head 1 of layer 1 reaches nothing: its rows of W_O are 0.
  parameters.view("decoder.1.self.w_o").middleRows(4, 4).setZero();
  const auto intact = HeadTreatment<Real>::intact(model.heads());
  ThreadTeam team(1);
  const Evaluator<Real> evaluator(model, parameters, task, SplitName::validation, 0, team, 20);
  const auto found =
      measure_heads<Real>({"importance.ablation"}, MeasureInput<Real>::of(evaluator, intact))
          .front();
  const double before = score("nll", total(evaluator.run(intact)));
  for (const auto& id : model.heads().all()) {
    CAPTURE(to_string(id));
    if (id == toy_head(1, 1)) {
      CHECK(found.value.at(id) == 0);
      CHECK(found.standard_error.at(id) == 0);
      continue;
    }
    auto masked = intact;
    masked.gate.at(id) = 0;
    const double after = score("nll", total(evaluator.run(masked)));
    CHECK(found.value.at(id) == Approx(after - before).margin(tolerance * before));
    CHECK(found.value.at(id) != 0);
    CHECK(found.standard_error.at(id) > 0);
  }
}

TEST_CASE("ablation importance is what the nll rises by, and exactly 0 for a head without effect") {
  check_ablations<float>(1e-5);
  check_ablations<double>(1e-12);
}

}  // namespace
}  // namespace headcount
