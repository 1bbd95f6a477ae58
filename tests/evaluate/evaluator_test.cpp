#include "evaluate/evaluator.hpp"

#include <map>

#include <rapidcheck.h>

#include "catch.hpp"
#include "support/toy.hpp"

namespace headcount {
namespace {

constexpr auto kValidation = SplitName::validation;

template <class Real, class TaskOf = ToyTask>
struct Toy {
  explicit Toy(int threads = 1, const ModelConfig& config = toy_config())
      : model(config),
        parameters(toy_parameters(model, 2)),
        intact(HeadTreatment<Real>::intact(model.heads())),
        team(threads) {}

  Evaluator<Real> evaluator(std::int64_t batch_tokens = 2048, std::int64_t examples = 0) {
    return {model, parameters, task, kValidation, examples, team, batch_tokens};
  }

  TaskOf task;
  Model<Real> model;
  Parameters<Real> parameters;
  HeadTreatment<Real> intact;
  ThreadTeam team;
};

// One example through the model by itself: its loss, and its gradient with respect to everything.
struct Alone {
  ExampleStatistics statistics;
  Parameters<double> gradient;
};

template <class AnyToy>
Alone run_alone(const AnyToy& toy, const Example& example, const HeadTreatment<double>& treatment) {
  Alone alone{{}, Parameters<double>(toy.model.layout())};
  const std::vector<std::int64_t> offsets{0, std::ssize(example.input)};
  const PackedTokens input{example.input, offsets};
  ModelPass<double> pass;
  pass.treatment = &treatment;
  ModelWorkspace<double> workspace;
  toy.model.forward(toy.parameters, input, pass, workspace);
  alone.statistics.characters = example.characters;
  alone.statistics.cluster = example.cluster;
  for (const auto target : example.targets) alone.statistics.targets += target >= 0;
  const std::vector<double> weights(example.targets.size(),
                                    1 / static_cast<double>(alone.statistics.targets));
  auto logits = workspace.logits.view();
  const Matrix<double> scores = logits;
  for (Index i = 0; i < scores.rows(); ++i) {
    const auto target = example.targets[static_cast<std::size_t>(i)];
    if (target < 0) continue;
    const double normalizer = scores.row(i).array().exp().sum();
    alone.statistics.nll -= std::log(std::exp(scores(i, target)) / normalizer);
    Index best = 0;
    scores.row(i).maxCoeff(&best);
    alone.statistics.correct += best == target;
  }
  std::vector<RowLoss<double>> rows;
  cross_entropy<double>(logits, example.targets, weights.data(), rows);
  toy.model.backward(toy.parameters, input, pass, logits, workspace, &alone.gradient);
  return alone;
}

bool same_but_for_rounding(const std::vector<ExampleStatistics>& a,
                           const std::vector<ExampleStatistics>& b, double tolerance) {
  if (a.size() != b.size()) return false;
  for (std::size_t x = 0; x < a.size(); ++x) {
    if (std::abs(a[x].nll - b[x].nll) > tolerance * b[x].nll) return false;
    auto but_nll = a[x];
    but_nll.nll = b[x].nll;
    if (but_nll != b[x]) return false;
  }
  return true;
}

TEST_CASE("statistics of every example are those of the example by itself") {
  Toy<double> toy;
  const auto found = toy.evaluator().run(toy.intact);
  std::vector<ExampleStatistics> expected;
  for (const auto& example : toy.task.split(kValidation).examples)
    expected.push_back(run_alone(toy, example, toy.intact).statistics);
  REQUIRE(found.size() == 11);
  CHECK(same_but_for_rounding(found, expected, 1e-12));
  CHECK(found[10].cluster == 2);
  CHECK(found[0].targets == std::ssize(toy.task.split(kValidation).examples[0].input) - 1);
}

TEST_CASE("statistics do not depend on how examples are batched") {
  Toy<float> single;
  Toy<double> exact;
  const auto expected = single.evaluator().run(single.intact);
  const auto expected_exactly = exact.evaluator().run(exact.intact);
  for (const std::int64_t tokens : {1, 9, 20, 33}) {
    CAPTURE(tokens);
    CHECK(same_but_for_rounding(single.evaluator(tokens).run(single.intact), expected, 1e-6));
    CHECK(
        same_but_for_rounding(exact.evaluator(tokens).run(exact.intact), expected_exactly, 1e-13));
  }
}

TEST_CASE("a causal model generates with the loss that it is scored with") {
  Toy<double> exact;
  Toy<float> single(2);
  for (const std::int64_t tokens : {1, 20, 2048}) {
    CAPTURE(tokens);
    CHECK(same_but_for_rounding(exact.evaluator(tokens).run_as_generated(exact.intact),
                                exact.evaluator().run(exact.intact), 1e-12));
    CHECK(same_but_for_rounding(single.evaluator(tokens).run_as_generated(single.intact),
                                single.evaluator().run(single.intact), 1e-5));
  }
}

TEST_CASE("a model that looks ahead generates from what it has") {
  auto config = toy_config();
  config.site = Site::encoder_self;
  config.mask = AttentionMask::none;
  config.set_heads({2, 3}, {3});
  Toy<double> toy(2, config);
  const auto found = toy.evaluator(20).run_as_generated(toy.intact);
  const auto& examples = toy.task.split(kValidation).examples;
  REQUIRE(found.size() == examples.size());
  std::vector<ExampleStatistics> expected;
  for (const auto& example : examples) {
    ExampleStatistics sum{0, 0, 0, example.characters, example.cluster};
    for (std::size_t i = 0; i < example.targets.size(); ++i) {
      if (example.targets[i] == kNoTarget) continue;
      Example prefix = example;
      prefix.input.resize(i + 1);
      prefix.targets.assign(i + 1, kNoTarget);
      prefix.targets[i] = example.targets[i];
      const auto one = run_alone(toy, prefix, toy.intact).statistics;
      sum.nll += one.nll;
      sum.targets += one.targets;
      sum.correct += one.correct;
    }
    expected.push_back(sum);
  }
  CHECK(same_but_for_rounding(found, expected, 1e-12));
  CHECK_FALSE(same_but_for_rounding(found, toy.evaluator().run(toy.intact), 1e-3));
}

TEST_CASE("statistics and gate gradients have the same bits for any number of threads") {
  Toy<float> one;
  const auto statistics = one.evaluator(20).run(one.intact);
  const auto gradients = one.evaluator(20).gate_gradients(one.intact);
  for (const int threads : {2, 3, 5}) {
    CAPTURE(threads);
    Toy<float> many(threads);
    CHECK(many.evaluator(20).run(many.intact) == statistics);
    CHECK(many.evaluator(20).gate_gradients(many.intact).values == gradients.values);
  }
}

TEST_CASE("a limit on examples spreads them evenly over the split") {
  Toy<float> toy;
  using Places = std::vector<std::int64_t>;
  CHECK(toy.evaluator(2048, 4).example_indices() == Places{0, 2, 5, 8});
  CHECK(toy.evaluator(2048, 1).example_indices() == Places{0});
  for (const std::int64_t all : {0, 11, 1000}) CHECK(toy.evaluator(2048, all).examples() == 11);

  const auto some = toy.evaluator(2048, 4).run(toy.intact);
  const auto all = toy.evaluator().run(toy.intact);
  REQUIRE(some.size() == 4);
  CHECK(same_but_for_rounding(some, {all[0], all[2], all[5], all[8]}, 1e-6));
}

TEST_CASE("limits of any size take different examples, in order, nearly equally far apart") {
  REQUIRE(rc::check("spread", [] {
    const auto have = *rc::gen::inRange<std::int64_t>(1, 60);
    const auto wanted = *rc::gen::inRange<std::int64_t>(1, have + 1);
    const ToyTask task(have, 1);
    static const Model<float> model(toy_config());
    static const auto parameters = toy_parameters(model, 1);
    ThreadTeam team(1);
    const Evaluator<float> some(model, parameters, task, kValidation, wanted, team);
    const auto& places = some.example_indices();
    RC_ASSERT(std::ssize(places) == wanted);
    RC_ASSERT(places.front() == 0);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto next = i + 1 < places.size() ? places[i + 1] : have;
      RC_ASSERT(next - places[i] >= have / wanted);
      RC_ASSERT(next - places[i] <= have / wanted + 1);
    }
  }));
}

TEST_CASE("an empty split is told with the key that fills it") {
  Toy<float> toy;
  const ToyTask empty(0, 3);
  try {
    const Evaluator<float> none(toy.model, toy.parameters, empty, kValidation, 0, toy.team);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::bad_data);
    CHECK_THAT(error.what(), ContainsSubstring("the validation split is empty"));
    CHECK_THAT(error.what(), ContainsSubstring("task.validation"));
  }
}

TEST_CASE("gate gradients do not depend on how examples are batched") {
  Toy<float> single;
  Toy<double> exact;
  const Matrix<double> expected = single.evaluator().gate_gradients(single.intact).values;
  const Matrix<double> exactly = exact.evaluator().gate_gradients(exact.intact).values;
  REQUIRE(expected.rows() == 11);
  REQUIRE(expected.cols() == 5);
  const double size = expected.cwiseAbs().maxCoeff();
  CHECK(size > 1e-3);
  for (const std::int64_t tokens : {1, 9, 20}) {
    CAPTURE(tokens);
    const auto found = single.evaluator(tokens).gate_gradients(single.intact).values;
    CHECK((found - expected).cwiseAbs().maxCoeff() < 1e-5 * size);
    const auto in_double = exact.evaluator(tokens).gate_gradients(exact.intact).values;
    CHECK((in_double - exactly).cwiseAbs().maxCoeff() < 1e-12 * size);
  }
}

TEST_CASE("gate gradients do not depend on the order of examples") {
  Toy<double> toy;
  const auto expected = toy.evaluator(20).gate_gradients(toy.intact).values;
  ToyTask reversed(0, 0);
  const auto& examples = toy.task.split(kValidation).examples;
  for (auto example = examples.rbegin(); example != examples.rend(); ++example)
    reversed.add(kValidation, *example);
  const Evaluator<double> backwards(toy.model, toy.parameters, reversed, kValidation, 0, toy.team,
                                    20);
  const auto found = backwards.gate_gradients(toy.intact).values;
  CHECK((found.colwise().reverse() - expected).cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("an example's gate gradient is the inner product of W_O and its gradient") {
  Toy<double> toy;
  const auto found = toy.evaluator().gate_gradients(toy.intact).values;
  const auto& examples = toy.task.split(kValidation).examples;
  const auto heads = toy.model.heads().all();
  for (std::size_t x = 0; x < examples.size(); ++x) {
    const auto alone = run_alone(toy, examples[x], toy.intact);
    for (std::size_t h = 0; h < heads.size(); ++h) {
      const auto& [site, layer, head] = heads[h];
      const double expected = toy.model.attention(site, layer)
                                  .output_inner_product(toy.parameters, alone.gradient, head);
      CHECK(found(Index(x), Index(h)) == Approx(expected).epsilon(1e-11).margin(1e-14));
    }
  }
}

TEST_CASE("gate gradients are the central differences of each example's mean nll") {
  Toy<double> toy;
  auto treatment = toy.intact;
  SECTION("of an intact model") {}
  SECTION("also where heads are masked") {
    treatment.mask(toy_head(0, 0), MaskKind::zero);
    treatment.mask(toy_head(1, 2), MaskKind::uniform);
  }
  const auto evaluator = toy.evaluator(20);
  const auto found = evaluator.gate_gradients(treatment).values;
  const auto heads = toy.model.heads().all();
  constexpr double kStep = 1e-5;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    auto more = treatment, less = treatment;
    more.gate.at(heads[h]) += kStep;
    less.gate.at(heads[h]) -= kStep;
    const auto above = evaluator.run(more), below = evaluator.run(less);
    for (std::size_t x = 0; x < above.size(); ++x) {
      const double slope =
          (above[x].nll - below[x].nll) / (2 * kStep * static_cast<double>(above[x].targets));
      CHECK(found(Index(x), Index(h)) == Approx(slope).epsilon(1e-6).margin(1e-8));
    }
  }
}

TEST_CASE("a classifier's statistics and gate gradients are those of each example by itself") {
  Toy<double, ToyClasses> toy(2, toy_classifier());
  for (const std::int64_t tokens : {1, 20, 2048}) {
    CAPTURE(tokens);
    const auto evaluator = toy.evaluator(tokens);
    const auto found = evaluator.run(toy.intact);
    const auto gradients = evaluator.gate_gradients(toy.intact).values;
    const auto& examples = toy.task.split(kValidation).examples;
    const auto heads = toy.model.heads().all();
    REQUIRE(found.size() == examples.size());
    for (std::size_t x = 0; x < examples.size(); ++x) {
      CAPTURE(x);
      if (x == 1) {  // has no target
        CHECK(found[x].targets == 0);
        CHECK(found[x].nll == 0);
        CHECK((gradients.row(1).array() == 0).all());
        continue;
      }
      const auto alone = run_alone(toy, examples[x], toy.intact);
      CHECK(found[x].targets == 1);
      CHECK(found[x].correct == alone.statistics.correct);
      CHECK(found[x].cluster == alone.statistics.cluster);
      CHECK(found[x].nll == Approx(alone.statistics.nll).epsilon(1e-12));
      for (std::size_t h = 0; h < heads.size(); ++h)
        CHECK(gradients(Index(x), Index(h)) ==
              Approx(toy.model.attention(heads[h].site, heads[h].layer)
                         .output_inner_product(toy.parameters, alone.gradient, heads[h].head))
                  .epsilon(1e-11)
                  .margin(1e-14));
    }
  }
}

TEST_CASE("ablations of a classifier are what masking each head by itself gives") {
  Toy<double, ToyClasses> toy(2, toy_classifier());
  for (const std::int64_t tokens : {1, 20, 2048}) {
    CAPTURE(tokens);
    const auto evaluator = toy.evaluator(tokens);
    const auto heads = toy.model.heads().all();
    const auto found = evaluator.ablations(toy.intact, heads);
    CHECK(found.intact == evaluator.run(toy.intact));
    for (std::size_t h = 0; h < heads.size(); ++h) {
      auto masked = toy.intact;
      masked.mask(heads[h], MaskKind::zero);
      const auto expected = evaluator.run(masked);
      for (std::size_t x = 0; x < expected.size(); ++x)
        CHECK(found.without[h][x].nll == Approx(expected[x].nll).epsilon(1e-11).margin(1e-14));
    }
  }
}

TEST_CASE("a model that gives classes is not evaluated on tokens, nor the other way round") {
  Toy<float> tokens(1, toy_classifier());
  CHECK_THROWS_WITH(tokens.evaluator(), ContainsSubstring("one output per sequence"));
  Toy<float, ToyClasses> classes;
  CHECK_THROWS_WITH(classes.evaluator(), ContainsSubstring("one output per token"));
}

TEST_CASE("an example without targets has no loss and no gate gradient") {
  Toy<double> toy;
  toy.task.add(kValidation, {{1, 2, 3}, {kNoTarget, kNoTarget, kNoTarget}, 0, 0});
  CHECK(toy.evaluator().run(toy.intact).back() == ExampleStatistics{});
  CHECK((toy.evaluator().gate_gradients(toy.intact).values.row(11).array() == 0).all());
}

TEST_CASE("the same examples go through a smaller model") {
  Toy<double> toy;
  const std::vector<HeadId> gone{toy_head(0, 0), toy_head(1, 1)};
  const auto smaller = toy.model.without(gone);
  const auto parameters = toy.model.shrink(toy.parameters, smaller);
  const auto evaluator = toy.evaluator(20, 5);
  auto masked = toy.intact;
  masked.mask(gone, MaskKind::zero);

  const auto other = evaluator.with(smaller, parameters);
  CHECK(other.example_indices() == evaluator.example_indices());
  CHECK(same_but_for_rounding(other.run(toy.intact), evaluator.run(masked), 1e-12));
  const auto gradients = other.gate_gradients(toy.intact).values;
  CHECK((gradients.col(0).array() == 0).all());
  CHECK((gradients.col(3).array() == 0).all());
  CHECK((gradients.col(1).array() != 0).all());
  // the first evaluator still looks at the first model
  CHECK(same_but_for_rounding(evaluator.run(toy.intact), toy.evaluator(20, 5).run(toy.intact), 0));
}

// Counts the calls for each example and head, and keeps the number of positions.
class Counter : public ExampleObserver<float> {
 public:
  Counter(Index examples, const HeadCounts& counts)
      : calls(static_cast<std::size_t>(examples), HeadMap<int>(counts)),
        positions(static_cast<std::size_t>(examples)) {}
  void observe(Index example, const HeadObservation<float>& seen) override {
    ++calls[static_cast<std::size_t>(example)].at(seen.id);
    positions[static_cast<std::size_t>(example)] = seen.pattern.rows();
  }
  std::vector<HeadMap<int>> calls;
  std::vector<Index> positions;
};

TEST_CASE("an observer sees every present head on every example once") {
  Toy<float> toy(3);
  const std::vector<HeadId> gone{toy_head(1, 1)};
  const auto smaller = toy.model.without(gone);
  const auto parameters = toy.model.shrink(toy.parameters, smaller);
  const auto evaluator = toy.evaluator(20).with(smaller, parameters);
  auto treatment = toy.intact;
  treatment.mask(toy_head(0, 0), MaskKind::zero);  // is seen all the same
  Counter counter(evaluator.examples(), toy.model.heads());
  const auto statistics = evaluator.run(treatment, &counter);
  CHECK(statistics == evaluator.run(treatment));
  const auto& examples = toy.task.split(kValidation).examples;
  for (std::size_t x = 0; x < examples.size(); ++x) {
    CHECK(counter.positions[x] == std::ssize(examples[x].input));
    for (const auto& id : toy.model.heads().all())
      CHECK(counter.calls[x].at(id) == (id == gone[0] ? 0 : 1));
  }
}

// A model of up to 4 layers with 0 to 3 heads each, some of them removed, some masked in one way or
// another, and the heads left to ablate.
template <class Real>
struct RandomModel {
  RandomModel() : model(toy_config()), parameters(model.layout()) {
    auto config = toy_config();
    const int layers = *rc::gen::inRange(1, 5);
    const auto heads = *rc::gen::container<std::vector<int>>(static_cast<std::size_t>(layers),
                                                             rc::gen::inRange(0, 4));
    const auto widths = *rc::gen::container<std::vector<int>>(static_cast<std::size_t>(layers),
                                                              rc::gen::element(2, 4, 6));
    const auto each = [layers]<class T>(const rc::Gen<T>& one) {
      return *rc::gen::container<std::vector<T>>(static_cast<std::size_t>(layers), one);
    };
    config.norm =
        each(rc::gen::element(NormPlacement::pre, NormPlacement::post, NormPlacement::none));
    config.norm_kind = *rc::gen::element(NormKind::layer, NormKind::rms);
    config.residual = each(rc::gen::element(Residual::plain, Residual::none,
                                            Residual::scaled_stream, Residual::scaled_sublayer));
    config.feed_forward = each(rc::gen::element<Index>(0, 5, 16));
    config.site = *rc::gen::element(Site::encoder_self, Site::decoder_self);
    if (config.site == Site::encoder_self) config.mask = AttentionMask::none;
    config.positions = *rc::gen::elementOf(position_encodings().names());
    config.tied_output = *rc::gen::arbitrary<bool>();
    config.set_heads(heads, {widths.begin(), widths.end()});
    const Model<Real> whole(config);
    const auto values = toy_parameters(whole, *rc::gen::inRange<std::uint64_t>(1, 1000));
    std::vector<HeadId> gone;
    for (const auto& id : whole.heads().all())
      if (*rc::gen::inRange(0, 5) == 0) gone.push_back(id);
    model = whole.without(gone);
    parameters = whole.shrink(values, model);
    treatment = HeadTreatment<Real>::intact(model.heads());
    for (const auto& id : model.present_heads()) {
      const RowVector<Real> mean =
          RowVector<Real>::Constant(model.config().head_widths[std::size_t(id.layer)], Real(0.3));
      const int what = *rc::gen::inRange(0, 8);
      if (what < 3) treatment.mask(id, MaskKind(what), &mean);
      if (what == 3) treatment.gate.at(id) = Real(0.5);
      if (what > 0) heads_left.push_back(id);  // masked by zero: there is nothing left to ablate
    }
  }

  Model<Real> model;
  Parameters<Real> parameters;
  HeadTreatment<Real> treatment;
  std::vector<HeadId> heads_left;
};

bool agree(const std::vector<ExampleStatistics>& a, const std::vector<ExampleStatistics>& b,
           double tolerance) {
  for (std::size_t x = 0; x < a.size(); ++x)
    if (std::abs(a[x].nll - b[x].nll) > tolerance * b[x].nll || a[x].targets != b[x].targets)
      return false;
  return a.size() == b.size();
}

template <class Real>
void check_ablations(double tolerance) {
  const RandomModel<Real> random;
  const auto& [model, parameters, treatment, heads] = random;
  const ToyTask task;
  ThreadTeam one(1), two(2);
  const auto evaluator = [&](ThreadTeam& team, std::int64_t batch_tokens) {
    return Evaluator<Real>(random.model, random.parameters, task, kValidation, 0, team,
                           batch_tokens);
  };
  const auto tokens = *rc::gen::inRange<std::int64_t>(1, 200);
  const auto found = evaluator(one, tokens).ablations(treatment, heads);
  RC_ASSERT(found.intact == evaluator(one, tokens).run(treatment));
  RC_ASSERT(found.without.size() == heads.size());
  for (std::size_t h = 0; h < heads.size(); ++h) {
    auto masked = treatment;
    masked.mask(heads[h], MaskKind::zero);
    RC_ASSERT(agree(found.without[h], evaluator(one, 2048).run(masked), tolerance));
  }
  const auto again = evaluator(two, tokens).ablations(treatment, heads);
  RC_ASSERT(again.intact == found.intact);
  RC_ASSERT(again.without == found.without);
}

TEST_CASE("ablations are what masking each head by itself gives, whatever else is done to heads") {
  REQUIRE(rc::check("in float", [] { check_ablations<float>(1e-5); }));
  REQUIRE(rc::check("in double", [] { check_ablations<double>(1e-12); }));
}

TEST_CASE("a head that is not there cannot be ablated") {
  Toy<float> toy;
  const auto evaluator = toy.evaluator();
  CHECK_THROWS_AS(evaluator.ablations(toy.intact, {toy_head(0, 2)}), Error);
  CHECK_THROWS_AS(evaluator.ablations(toy.intact, {toy_head(1, 0), toy_head(0, 0)}), Error);
  CHECK(evaluator.ablations(toy.intact, {}).intact == evaluator.run(toy.intact));
}

}  // namespace
}  // namespace headcount
