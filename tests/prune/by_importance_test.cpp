#include "prune/by_importance.hpp"

#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "toy_pruning.hpp"

namespace headcount {
namespace {

TEST_CASE("scores are divided by the norm of their layer") {
  HeadMap<double> scores(HeadCounts(Site::decoder_self, {2, 3, 2}));
  scores.layer(Site::decoder_self, 0) = {3, 4};
  scores.layer(Site::decoder_self, 1) = {1, 2, 2};
  const auto found = normalized_by_layer(scores, scores.counts().all());
  CHECK(found.at(toy_head(0, 0)) == Approx(0.6));
  CHECK(found.at(toy_head(0, 1)) == Approx(0.8));
  CHECK(found.at(toy_head(1, 0)) == Approx(1.0 / 3));
  CHECK(found.at(toy_head(1, 2)) == Approx(2.0 / 3));
  CHECK(found.at(toy_head(2, 0)) == 0);  // a layer of zeros stays one
}

TEST_CASE("heads that are gone do not count in the norm of their layer") {
  HeadMap<double> scores(HeadCounts(Site::decoder_self, {3}));
  scores.layer(Site::decoder_self, 0) = {3, 4, std::nan("")};
  const auto found = normalized_by_layer(scores, {toy_head(0, 0), toy_head(0, 1)});
  CHECK(found.at(toy_head(0, 0)) == Approx(0.6));
  CHECK(found.at(toy_head(0, 1)) == Approx(0.8));
  CHECK(normalized_by_layer(scores, {toy_head(0, 1)}).at(toy_head(0, 1)) == Approx(1));
}

TEST_CASE("heads go from the lowest score to the highest, ties by their place") {
  HeadMap<double> scores(HeadCounts(Site::decoder_self, {2, 3}));
  scores.layer(Site::decoder_self, 0) = {2, 1};
  scores.layer(Site::decoder_self, 1) = {1, 0.5, 2};
  auto heads = scores.counts().all();
  std::reverse(heads.begin(), heads.end());
  CHECK(ascending(scores, heads) ==
        HeadOrder{toy_head(1, 1), toy_head(0, 1), toy_head(1, 0), toy_head(0, 0), toy_head(1, 2)});
  CHECK(ascending(scores, {toy_head(1, 2), toy_head(0, 0)}) ==
        HeadOrder{toy_head(0, 0), toy_head(1, 2)});
}

// Mean |gate gradient| of each head that is not masked, over the norm of its layer; straight from
// Michel et al. 2019, section 3.
HeadMap<double> importance(const ToyPruning& toy, const HeadTreatment<double>& treatment) {
  const auto gradients = toy.scoring.gate_gradients(treatment).values;
  const auto heads = toy.model.heads().all();
  HeadMap<double> scores(toy.model.heads(), 1e9);
  for (int layer = 0; layer < 2; ++layer) {
    double norm = 0;
    for (std::size_t h = 0; h < heads.size(); ++h)
      if (heads[h].layer == layer && treatment.gate.at(heads[h]) != 0)
        norm += std::pow(gradients.col(Index(h)).cwiseAbs().mean(), 2);
    for (std::size_t h = 0; h < heads.size(); ++h)
      if (heads[h].layer == layer && treatment.gate.at(heads[h]) != 0)
        scores.at(heads[h]) = gradients.col(Index(h)).cwiseAbs().mean() / std::sqrt(norm);
  }
  return scores;
}

// The next head to go: the lowest of those that are left.
HeadId least(const HeadMap<double>& scores) {
  const auto heads = scores.counts().all();
  return *std::min_element(heads.begin(), heads.end(), [&](const HeadId& a, const HeadId& b) {
    return scores.at(a) < scores.at(b);
  });
}

TEST_CASE("one-shot scores once, reverse turns it round, iterative scores again at every point") {
  int differ = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const ToyPruning toy(seed);
    HeadOrder once, again;
    auto scores = importance(toy, toy.treatment);
    auto treatment = toy.treatment;
    for (int i = 0; i < 5; ++i) {
      once.push_back(least(scores));
      scores.at(once.back()) = 1e9;
      again.push_back(least(importance(toy, treatment)));
      treatment.mask(again.back(), MaskKind::zero);
    }
    CHECK(toy.orders("importance.gradient") == std::vector<HeadOrder>{once});
    CHECK(toy.orders("importance.gradient-iterative") == std::vector<HeadOrder>{again});
    // with no point between none and all, iterative is one-shot
    CHECK(toy.orders("importance.gradient-iterative", 1, 1, {0, 5}) ==
          std::vector<HeadOrder>{once});
    std::reverse(once.begin(), once.end());
    CHECK(toy.orders("importance.gradient-reverse") == std::vector<HeadOrder>{once});
    std::reverse(once.begin(), once.end());
    differ += once != again;
  }
  CHECK(differ > 0);
}

TEST_CASE("several heads may go between two points of an iterative order") {
  const ToyPruning toy;
  auto treatment = toy.treatment;
  HeadOrder expected;
  for (const int together : {2, 2, 1}) {
    auto scores = importance(toy, treatment);
    for (int i = 0; i < together; ++i) {
      expected.push_back(least(scores));
      scores.at(expected.back()) = 1e9;
      treatment.mask(expected.back(), MaskKind::zero);
    }
  }
  CHECK(toy.orders("importance.gradient-iterative", 1, 1, {0, 2, 4, 5}) ==
        std::vector<HeadOrder>{expected});
}

TEST_CASE("the ablation order goes by what each head's loss costs alone") {
  const ToyPruning toy;
  const auto order = toy.orders("importance.ablation").front();
  double before = -1e9;
  for (const auto& id : order) {
    auto masked = toy.treatment;
    masked.mask(id, MaskKind::zero);
    const double nll = score("nll", total(toy.scoring.run(masked)));
    CHECK(nll >= before);
    before = nll;
  }
}

}  // namespace
}  // namespace headcount
