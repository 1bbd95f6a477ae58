#include "measure/mean_context.hpp"

#include "catch.hpp"
#include "support/toy.hpp"

namespace headcount {
namespace {

template <class Real>
struct Toy {
  explicit Toy(int threads = 1)
      : model(toy_config()),
        parameters(toy_parameters(model, 4)),
        intact(HeadTreatment<Real>::intact(model.heads())),
        team(threads),
        evaluator(model, parameters, task, SplitName::validation, 0, team, 20) {}

  ToyTask task;
  Model<Real> model;
  Parameters<Real> parameters;
  HeadTreatment<Real> intact;
  ThreadTeam team;
  Evaluator<Real> evaluator;
};

TEST_CASE("with constant values the mean context is the value") {
  Toy<double> toy;
  toy.parameters.view("decoder.0.self.w_v").setZero();
  auto bias = toy.parameters.view("decoder.0.self.b_v");
  for (Index k = 0; k < bias.cols(); ++k) bias(0, k) = 0.5 * static_cast<double>(k) - 2;
  const auto means = mean_contexts(toy.evaluator, toy.intact);
  REQUIRE(means.at(toy_head(0, 0)).size() == 6);
  REQUIRE(means.at(toy_head(1, 0)).size() == 4);
  CHECK((means.at(toy_head(0, 0)) - bias.leftCols(6)).cwiseAbs().maxCoeff() < 1e-14);
  CHECK((means.at(toy_head(0, 1)) - bias.rightCols(6)).cwiseAbs().maxCoeff() < 1e-14);
}

// All contexts of one head, example after example.
class Contexts : public ExampleObserver<double> {
 public:
  explicit Contexts(HeadId id) : id_(id) {}
  void observe(Index, const HeadObservation<double>& seen) override {
    if (seen.id != id_) return;
    for (Index i = 0; i < seen.context.rows(); ++i) rows.push_back(seen.context.row(i));
  }
  std::vector<RowVector<double>> rows;

 private:
  HeadId id_;
};

TEST_CASE("a mean context is the mean over all positions of all examples") {
  const Toy<double> toy;
  const auto means = mean_contexts(toy.evaluator, toy.intact);
  for (const auto& id : toy.model.heads().all()) {
    Contexts contexts(id);
    toy.evaluator.run(toy.intact, &contexts);
    std::size_t positions = 0;
    for (const auto& example : toy.task.split(SplitName::validation).examples)
      positions += example.input.size();
    REQUIRE(contexts.rows.size() == positions);
    RowVector<double> sum = RowVector<double>::Zero(means.at(id).size());
    for (const auto& row : contexts.rows) sum += row;
    CHECK((means.at(id) - sum / static_cast<double>(positions)).cwiseAbs().maxCoeff() < 1e-14);
  }
}

TEST_CASE("mean contexts have the same bits for any number of threads") {
  const Toy<float> one, two(2), four(4);
  const auto means = mean_contexts(one.evaluator, one.intact);
  CHECK(mean_contexts(two.evaluator, two.intact) == means);
  CHECK(mean_contexts(four.evaluator, four.intact) == means);
}

TEST_CASE("a head masked by its mean is a head removed with its mean folded into the bias") {
  const Toy<double> toy;
  const auto means = mean_contexts(toy.evaluator, toy.intact);
  for (const auto& id : toy.model.heads().all()) {
    auto masked = toy.intact;
    masked.mask({id}, MaskKind::mean, &means);
    const auto smaller = toy.model.without({id});
    auto folded = toy.parameters.clone();
    toy.model.attention(id.site, id.layer).fold_into_bias(folded, id.head, 1, means.at(id));
    const auto parameters = toy.model.shrink(folded, smaller);
    const auto expected = toy.evaluator.with(smaller, parameters).run(toy.intact);
    const auto found = toy.evaluator.run(masked);
    for (std::size_t x = 0; x < found.size(); ++x)
      CHECK(found[x].nll == Approx(expected[x].nll).epsilon(1e-12));
  }
}

}  // namespace
}  // namespace headcount
