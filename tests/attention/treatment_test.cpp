#include "attention/treatment.hpp"

#include "catch.hpp"
#include "support/matrices.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {
const HeadCounts kCounts(Site::decoder_self, {2, 3});
using Treatment = HeadTreatment<double>;
HeadId head(int layer, int index) { return {Site::decoder_self, layer, index}; }
}  // namespace

TEST_CASE("mask kinds have names") {
  CHECK(mask_kind_names() == std::vector<std::string>{"zero", "mean", "uniform"});
  for (const auto kind : {MaskKind::zero, MaskKind::mean, MaskKind::uniform})
    CHECK(parse_mask_kind(name_of(kind)) == kind);
  CHECK_THROWS_WITH(parse_mask_kind("zeros"), ContainsSubstring("did you mean 'zero'"));
}

TEST_CASE("an intact treatment leaves every head as it is") {
  const auto intact = Treatment::intact(kCounts);
  for (const auto& id : kCounts.all()) {
    CHECK(intact.is_intact(id));
    CHECK(intact.gate.at(id) == 1);
  }
}

TEST_CASE("a mask acts on the head it names and on no other") {
  const RowVector<double> mean = random_matrix<double>(1, 4, 1);
  for (const auto kind : {MaskKind::zero, MaskKind::mean, MaskKind::uniform}) {
    CAPTURE(name_of(kind));
    auto treatment = Treatment::intact(kCounts);
    treatment.mask(head(1, 2), kind, &mean);
    for (const auto& id : kCounts.all()) CHECK(treatment.is_intact(id) == (id != head(1, 2)));
  }
  auto treatment = Treatment::intact(kCounts);
  treatment.mask(head(0, 1), MaskKind::zero);
  CHECK(treatment.gate.at(head(0, 1)) == 0);
  treatment.mask(head(1, 0), MaskKind::mean, &mean);
  CHECK(treatment.context.at(head(1, 0)) == Treatment::Context::mean);
  CHECK(treatment.mean.at(head(1, 0)) == mean);
  treatment.mask(head(1, 1), MaskKind::uniform);
  CHECK(treatment.context.at(head(1, 1)) == Treatment::Context::uniform);
  CHECK(treatment.gate.at(head(1, 1)) == 1);
}

TEST_CASE("several heads are masked at once, each by its own mean") {
  HeadMap<RowVector<double>> means(kCounts);
  std::uint32_t seed = 1;
  for (const auto& id : kCounts.all()) means.at(id) = random_matrix<double>(1, 4, seed++);
  auto treatment = Treatment::intact(kCounts);
  treatment.mask({head(0, 0), head(1, 2)}, MaskKind::mean, &means);
  CHECK(treatment.mean.at(head(0, 0)) == means.at(head(0, 0)));
  CHECK(treatment.mean.at(head(1, 2)) == means.at(head(1, 2)));
  CHECK(treatment.is_intact(head(0, 1)));
}

TEST_CASE("a mask is never silent: a head that does not exist, or a mean that is missing") {
  auto treatment = Treatment::intact(kCounts);
  const RowVector<double> mean = random_matrix<double>(1, 4, 1);
  for (const auto kind : {MaskKind::zero, MaskKind::mean, MaskKind::uniform})
    for (const HeadId id : {head(0, 2), head(2, 0), HeadId{Site::cross, 0, 0}}) {
      CHECK_THROWS_WITH(treatment.mask(id, kind, &mean), ContainsSubstring(to_string(id)));
      CHECK_THROWS_AS(treatment.mask({id}, kind, nullptr), Error);
    }
  CHECK_THROWS_WITH(treatment.mask(head(0, 0), MaskKind::mean), ContainsSubstring("mean"));
  for (const auto& id : kCounts.all()) CHECK(treatment.is_intact(id));
}
