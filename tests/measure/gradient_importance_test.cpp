#include <cmath>

#include "catch.hpp"
#include "measure/measure.hpp"
#include "support/toy.hpp"

namespace headcount {
namespace {

TEST_CASE("gradient importance is the mean over examples of absolute gate gradients") {
  const ToyTask task;
  const Model<double> model(toy_config());
  const auto parameters = toy_parameters(model, 3);
  const auto treatment = HeadTreatment<double>::intact(model.heads());
  ThreadTeam team(1);
  const auto importance = [&](std::int64_t batch_tokens) {
    const Evaluator<double> evaluator(model, parameters, task, SplitName::validation, 0, team,
                                      batch_tokens);
    return measure_heads<double>({"importance.gradient"},
                                 MeasureInput<double>::of(evaluator, treatment))
        .front();
  };
  const Evaluator<double> evaluator(model, parameters, task, SplitName::validation, 0, team);
  const auto gradients = evaluator.gate_gradients(treatment).values;
  const auto found = importance(2048);
  const auto heads = model.heads().all();
  bool signs_differ = false;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const auto column = gradients.col(static_cast<Index>(h)).array();
    const double n = static_cast<double>(column.size()), mean = column.abs().mean();
    CHECK(found.value.at(heads[h]) == Approx(mean).epsilon(1e-12));
    const double variance = (column.abs() - mean).square().sum() / (n - 1);
    CHECK(found.standard_error.at(heads[h]) == Approx(std::sqrt(variance / n)).epsilon(1e-12));
    CHECK(found.value.at(heads[h]) >= std::abs(column.mean()));
    signs_differ |= found.value.at(heads[h]) > 1.01 * std::abs(column.mean());
  }
  CHECK(signs_differ);  // else nothing tells |mean| from mean of |.|

  const auto one_by_one = importance(1);
  for (const auto& id : heads)
    CHECK(one_by_one.value.at(id) == Approx(found.value.at(id)).epsilon(1e-12));
}

}  // namespace
}  // namespace headcount
