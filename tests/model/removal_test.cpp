// Rules 1 and 2 for whole models.
#include <rapidcheck.h>

#include "base/error.hpp"
#include "catch.hpp"
#include "model/small.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

// The heads of the first sequence, as they are seen.
struct Recorder : HeadObserver<double> {
  std::vector<HeadId> seen;
  void observe(const HeadObservation<double>& observation) override {
    if (observation.sequence == 0) seen.push_back(observation.id);
  }
};

HeadId head(int layer, int index) { return {Site::decoder_self, layer, index}; }

template <class Real>
void masked_equals_removed(const SmallModel<Real>& small, const std::vector<HeadId>& heads) {
  const auto masked_model = small.without({});
  masked_model->treatment.mask(heads, MaskKind::zero);
  const Matrix<Real> masked = masked_model->logits();
  const auto removed = small.without(heads);
  CHECK(relative_difference(removed->logits(), masked) < kRounding<Real>);
}

}  // namespace

TEMPLATE_TEST_CASE("masked equals removed for every subset of heads", "", float, double) {
  for (const bool causal : {true, false})
    for (const auto norm : {NormPlacement::pre, NormPlacement::post}) {
      auto config = causal ? small_config() : bidirectional(small_config());
      config.norm = norm;
      for (const bool classes : {false, true}) {
        const SmallModel<TestType> small(classes ? classifier(config) : config);
        const auto all = small.model.present_heads();
        REQUIRE(all.size() == 6);
        for (unsigned subset = 0; subset < 64; ++subset) {
          CAPTURE(causal, name_of(norm), classes, subset);
          std::vector<HeadId> chosen;
          for (std::size_t i = 0; i < 6; ++i)
            if (subset >> i & 1U) chosen.push_back(all[i]);
          masked_equals_removed(small, chosen);
        }
      }
    }
}

TEMPLATE_TEST_CASE("masked equals removed in blocks of every kind", "", float, double) {
  for (const auto& config : block_variants()) {
    CAPTURE(blocks_of(config));
    const SmallModel<TestType> small(config);
    const auto all = small.model.present_heads();
    for (unsigned subset = 0; subset < 64; ++subset) {
      std::vector<HeadId> chosen;
      for (std::size_t i = 0; i < 6; ++i)
        if (subset >> i & 1U) chosen.push_back(all[i]);
      CAPTURE(subset);
      masked_equals_removed(small, chosen);
    }
  }
}

TEST_CASE("law: masked equals removed whatever the layers are made of") {
  REQUIRE(rc::check("any stack", [] {
    const auto layers = static_cast<std::size_t>(*rc::gen::inRange(1, 4));
    const auto each = [layers]<class T>(const rc::Gen<T>& one) {
      return *rc::gen::container<std::vector<T>>(layers, one);
    };
    auto config = small_config(each(rc::gen::inRange(0, 4)));
    config.norm =
        each(rc::gen::element(NormPlacement::pre, NormPlacement::post, NormPlacement::none));
    config.norm_kind = *rc::gen::element(NormKind::layer, NormKind::rms);
    config.residual = each(rc::gen::element(Residual::plain, Residual::none,
                                            Residual::scaled_stream, Residual::scaled_sublayer));
    config.feed_forward = each(rc::gen::element<Index>(0, 3, 7));
    const SmallModel<double> small(config);
    auto heads = small.model.present_heads();
    std::erase_if(heads, [](const HeadId&) { return *rc::gen::arbitrary<bool>(); });
    const auto masked = small.without({});
    masked->treatment.mask(heads, MaskKind::zero);
    const Matrix<double> expected = masked->logits();
    RC_ASSERT(relative_difference(small.without(heads)->logits(), expected) < 1e-11);
  }));
}

TEMPLATE_TEST_CASE("masked equals removed under every position encoding", "", float, double) {
  for (const auto& positions : position_encodings().names())
    for (const bool causal : {true, false}) {
      auto config = small_config({3, 0, 4}, {2, 1, 4});
      if (!causal) config = bidirectional(config);
      config.positions = positions;
      config.relative_distance = 2;
      const SmallModel<TestType> small(config);
      const auto all = small.model.present_heads();
      for (unsigned subset = 0; subset < 128; ++subset) {
        CAPTURE(positions, causal, subset);
        std::vector<HeadId> chosen;
        for (std::size_t i = 0; i < all.size(); ++i)
          if (subset >> i & 1U) chosen.push_back(all[i]);
        masked_equals_removed(small, chosen);
      }
    }
}

TEST_CASE("masking a head changes the logits") {
  SmallModel<double> small;
  const Matrix<double> intact = small.logits();
  const RowVector<double> mean = random_matrix<double>(1, 2, 6);
  for (const auto& id : small.model.present_heads())
    for (const auto kind : {MaskKind::zero, MaskKind::mean, MaskKind::uniform}) {
      CAPTURE(to_string(id), name_of(kind));
      small.treatment = HeadTreatment<double>::intact(small.model.heads());
      small.treatment.mask(id, kind, &mean);
      CHECK(relative_difference(small.logits(), intact) > 1e-4);
    }
}

TEMPLATE_TEST_CASE("mean-masked equals removal with the means folded into the biases", "", float,
                   double) {
  for (const std::vector<HeadId>& heads : {std::vector{head(0, 1)},
                                           {head(0, 0), head(0, 2), head(1, 1)},
                                           {head(1, 0), head(1, 1), head(1, 2)}}) {
    SmallModel<TestType> small;
    auto folded = small.parameters.clone();
    std::uint32_t seed = 30;
    for (const auto& id : heads) {
      const RowVector<TestType> mean = random_matrix<TestType>(1, 2, seed++);
      small.treatment.mask(id, MaskKind::mean, &mean);
      small.model.attention(id.site, id.layer).fold_into_bias(folded, id.head, 1, mean);
    }
    const Matrix<TestType> masked = small.logits();
    small.parameters = std::move(folded);
    CHECK(relative_difference(small.without(heads)->logits(), masked) < kRounding<TestType>);
  }
}

TEST_CASE("heads keep their original indices, however often heads were removed") {
  const SmallModel<double> small(small_config({4, 3}, {2, 5}));
  const auto once = small.without({head(0, 0), head(1, 1)});
  const auto twice = once->without({head(0, 2)});
  CHECK(twice->model.heads() == small.model.heads());
  CHECK(twice->model.config().heads == std::vector<std::vector<int>>{{1, 3}, {0, 2}});
  CHECK(twice->model.present_heads() ==
        std::vector<HeadId>{head(0, 1), head(0, 3), head(1, 0), head(1, 2)});
  CHECK(twice->model.is_present(head(0, 3)));
  CHECK_FALSE(twice->model.is_present(head(0, 2)));
  CHECK_FALSE(twice->model.is_present(head(0, 4)));
  CHECK_FALSE(twice->model.is_present({Site::cross, 0, 1}));

  const auto at_once = small.without({head(0, 0), head(1, 1), head(0, 2)});
  CHECK(same_bits(twice->logits(), at_once->logits()));
  masked_equals_removed(*twice, {head(0, 3), head(1, 0)});

  Recorder recorder;
  twice->pass.observer = &recorder;
  twice->logits();
  CHECK(recorder.seen == twice->model.present_heads());
}

TEST_CASE("removal takes exactly a head's parameters") {
  const SmallModel<float> small;
  const auto smaller = small.without({head(0, 1)});
  const std::int64_t one_head = 4 * 6 * 2 + 3 * 2;
  CHECK(smaller->model.layout().count() == small.model.layout().count() - one_head);
  CHECK(same_bits(smaller->parameters.view("decoder.0.self.b_o"),
                  small.parameters.view("decoder.0.self.b_o")));
  CHECK(same_bits(smaller->parameters.view("decoder.0.self.w_v").rightCols(2),
                  small.parameters.view("decoder.0.self.w_v").rightCols(2)));
  CHECK(same_bits(smaller->parameters.view("decoder.0.self.w_o").bottomRows(2),
                  small.parameters.view("decoder.0.self.w_o").bottomRows(2)));
  CHECK(same_bits(smaller->parameters.view("embedding.token"),
                  small.parameters.view("embedding.token")));
}

TEST_CASE("a mask is never silent: a model refuses one that nothing would consume") {
  const SmallModel<double> small;
  const auto smaller = small.without({head(0, 1)});
  const RowVector<double> mean = random_matrix<double>(1, 2, 6);
  for (const auto kind : {MaskKind::zero, MaskKind::mean, MaskKind::uniform}) {
    CAPTURE(name_of(kind));
    smaller->treatment = HeadTreatment<double>::intact(smaller->model.heads());
    smaller->treatment.mask(head(0, 1), kind, &mean);
    CHECK_THROWS_WITH(smaller->logits(), ContainsSubstring("decoder_self:0:1"));
    CHECK_THROWS_AS(smaller->logits(), Error);
  }
  smaller->treatment = HeadTreatment<double>::intact(smaller->model.heads());
  smaller->treatment.gate.at(head(0, 1)) = 0.5;
  CHECK_THROWS_WITH(smaller->logits(), ContainsSubstring("decoder_self:0:1"));

  for (const auto& counts :
       {HeadCounts(Site::decoder_self, {3, 4}), HeadCounts(Site::decoder_self, {3}),
        HeadCounts(Site::encoder_self, {3, 3}), HeadCounts()}) {
    smaller->treatment = HeadTreatment<double>::intact(counts);
    CHECK_THROWS_AS(smaller->logits(), Error);
  }
}

TEST_CASE("a mean of another width than the head's is refused") {
  SmallModel<double> small;
  for (const Index width : {0, 1, 3}) {
    const RowVector<double> mean = RowVector<double>::Zero(width);
    small.treatment = HeadTreatment<double>::intact(small.model.heads());
    small.treatment.mask(head(1, 2), MaskKind::mean, &mean);
    CHECK_THROWS_WITH(small.logits(), ContainsSubstring("decoder_self:1:2"));
  }
}

TEST_CASE("only a head that is there can be removed") {
  const SmallModel<double> small;
  CHECK_THROWS_WITH(small.model.without({head(0, 3)}),
                    ContainsSubstring("decoder_self:0:3") && ContainsSubstring("no such head"));
  CHECK_THROWS_AS(small.model.without({head(2, 0)}), Error);
  CHECK_THROWS_AS(small.model.without({{Site::encoder_self, 0, 0}}), Error);
  const auto smaller = small.without({head(0, 1)});
  CHECK_THROWS_WITH(smaller->model.without({head(0, 1)}), ContainsSubstring("removed before"));
}
