#include <numeric>
#include <set>

#include "base/error.hpp"
#include "catch.hpp"
#include "model/positions/position_encoding.hpp"
#include "model/small.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

// What an encoding adds to the embeddings of two sequences, of 3 and 2 tokens.
template <class Real>
Matrix<Real> added(const PositionConfig& config, const ParameterLayout& layout,
                   const PositionEncoding<Real>& encoding) {
  Parameters<Real> parameters(layout);
  for (const auto& entry : layout.entries())
    parameters.view(entry.block) = random_matrix<Real>(entry.block.rows, entry.block.cols, 4);
  const std::vector<std::int64_t> offsets{0, 3, 5};
  Matrix<Real> x = Matrix<Real>::Constant(5, config.width, 10);
  encoding.add_to_embeddings(parameters, offsets, x);
  return (x.array() - Real{10}).matrix();
}

}  // namespace

TEST_CASE("position encodings say what they are") {
  std::set<std::string> names;
  for (const auto& entry : position_encodings().entries()) {
    CHECK(names.insert(entry.about.name).second);
    CHECK_FALSE(entry.about.definition.empty());
    CHECK_FALSE(entry.about.source.empty());
  }
  CHECK_THROWS_WITH(position_encodings().at("sinusoid"), ContainsSubstring("'sinusoidal'"));
}

TEMPLATE_TEST_CASE("sinusoidal positions by hand", "", float, double) {
  const PositionConfig config{4, 3};
  ParameterLayout layout;
  const auto encoding = position_encodings().at("sinusoidal").make<TestType>(config, layout);
  CHECK(layout.count() == 0);
  Matrix<double> expected(5, 4);  // wavelengths 2π and 100 · 2π
  expected << 0, 1, 0, 1,         //
      0.8414709848078965, 0.5403023058681398, 0.009999833334166664, 0.9999500004166653,  //
      0.9092974268256817, -0.4161468365471424, 0.01999866669333308, 0.9998000066665778,  //
      0, 1, 0, 1,                                                                        //
      0.8414709848078965, 0.5403023058681398, 0.009999833334166664, 0.9999500004166653;
  CHECK(relative_difference(added(config, layout, *encoding), expected) < 1e-6);
}

TEST_CASE("sinusoidal positions of an odd width end with a sine") {
  const PositionConfig config{3, 3};
  ParameterLayout layout;
  const auto encoding = position_encodings().at("sinusoidal").make<double>(config, layout);
  CHECK(added(config, layout, *encoding)(2, 2) == Approx(std::sin(2 / std::pow(10000.0, 2.0 / 3))));
}

TEST_CASE("learned positions are rows of a table") {
  const PositionConfig config{6, 3};
  ParameterLayout layout;
  const auto encoding = position_encodings().at("learned").make<double>(config, layout);
  REQUIRE(layout.at("embedding.position").role == ParameterRole::position_embedding);
  CHECK(layout.count() == 18);
  const Matrix<double> table = random_matrix<double>(3, 6, 4);
  const Matrix<double> x = added(config, layout, *encoding);
  CHECK(relative_difference(x.topRows(3), table) < 1e-14);
  CHECK(relative_difference(x.bottomRows(2), table.topRows(2)) < 1e-14);
}

TEST_CASE("no positions add nothing") {
  const PositionConfig config{6, 1};
  ParameterLayout layout;
  const auto encoding = position_encodings().at("none").make<float>(config, layout);
  CHECK(added(config, layout, *encoding).isZero(0));
  CHECK_FALSE(encoding->acts_on_vectors());
  CHECK_FALSE(encoding->acts_on_scores());
}

TEST_CASE("a sequence longer than the positions is refused") {
  for (const std::string name : {"sinusoidal", "learned"}) {
    const PositionConfig config{6, 2};
    ParameterLayout layout;
    const auto encoding = position_encodings().at(name).make<double>(config, layout);
    CHECK_THROWS_WITH(added(config, layout, *encoding),
                      ContainsSubstring("3 tokens") && ContainsSubstring("2 positions"));
  }
}

// Irie 2025: one causal layer without positions sees its past as a set; two do not.
TEST_CASE("without positions one causal layer cannot tell the order of the past") {
  for (const std::size_t layers : {1U, 2U})
    for (const auto& positions : position_encodings().names()) {
      auto config = small_config(std::vector<int>(layers, 3));
      config.positions = positions;
      CAPTURE(layers, positions);
      SmallModel<double> small(config);
      small.batch = {{3, 1, 4, 1, 5, 9, 2}, {0, 7}, {0, 0, 0, 0, 0, 0, 0}};
      const Matrix<double> before = small.logits();
      small.batch.tokens = {1, 9, 5, 4, 3, 1, 2};  // the same tokens, the same last one
      const Matrix<double> after = small.logits();
      const double difference = relative_difference(after.row(6), before.row(6));
      if (positions == "none" && layers == 1)
        CHECK(difference < 1e-13);
      else
        CHECK(difference > 1e-6);
    }
}
