#include "train/pattern_sums.hpp"

#include <cmath>

#include "catch.hpp"
#include "support/matrices.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

// Heads 0 to 4 of layer 1 of two.
HeadId head(int index) { return {Site::decoder_self, 1, index}; }
const HeadCounts kCounts(Site::decoder_self, {1, 5});

template <class Real>
void show(PatternSums<Real>& sums, const HeadId& id, const Matrix<Real>& pattern,
          AttentionMask mask = AttentionMask::none) {
  const ConstMatrixView<Real> view(pattern.data(), pattern.rows(), pattern.cols(),
                                   Eigen::OuterStride<>(pattern.cols()));
  sums.observe({id, 0, mask, view, view});
}

}  // namespace

TEMPLATE_TEST_CASE("entropy and saturation by hand, row by row", "", float, double) {
  const auto treatment = HeadTreatment<TestType>::intact(kCounts);
  PatternSums<TestType> sums(treatment);
  sums.begin(2);
  Matrix<TestType> pattern(3, 4);
  pattern << 1, 0, 0, 0,                                               // no choice left
      TestType(0.5), TestType(0.5), 0, 0,                              // ln 2, and ½
      TestType(0.25), TestType(0.25), TestType(0.25), TestType(0.25);  // ln 4, and ¾
  show(sums, head(0), pattern);
  CHECK(sums.layers()[0].rows == 0);
  CHECK(sums.layers()[1].rows == 3);
  CHECK(sums.layers()[1].entropy == Approx(3 * std::log(2)).epsilon(1e-6));
  CHECK(sums.layers()[1].saturation == Approx(1.25).epsilon(1e-6));

  // Under a causal mask the first query sees one key, the second two: what follows is not read.
  Matrix<TestType> causal(2, 2);
  causal << 1, 77, TestType(0.5), TestType(0.5);
  show(sums, head(1), causal, AttentionMask::causal);
  CHECK(sums.layers()[1].rows == 5);
  CHECK(sums.layers()[1].entropy == Approx(4 * std::log(2)).epsilon(1e-6));
  CHECK(sums.layers()[1].saturation == Approx(1.75).epsilon(1e-6));

  auto twice = sums.layers()[1];
  twice += sums.layers()[1];
  CHECK(twice.rows == 10);
  CHECK(twice.entropy == 2 * sums.layers()[1].entropy);
  CHECK(twice.saturation == 2 * sums.layers()[1].saturation);
  sums.begin(2);
  CHECK(sums.layers()[1].rows == 0);
  CHECK(sums.layers()[1].entropy == 0);
}

TEST_CASE("patterns that nothing depends on do not count") {
  auto treatment = HeadTreatment<double>::intact(kCounts);
  const RowVector<double> mean = RowVector<double>::Zero(2);
  treatment.mask(head(0), MaskKind::zero);
  treatment.mask(head(1), MaskKind::mean, &mean);
  treatment.mask(head(2), MaskKind::uniform);
  treatment.gate.at(head(3)) = 0.5;
  PatternSums<double> sums(treatment);
  sums.begin(2);
  for (int index = 0; index < 5; ++index)
    show<double>(sums, head(index), Matrix<double>::Constant(7, 2, 0.5));
  CHECK(sums.layers()[1].rows == 3 * 7);
}
