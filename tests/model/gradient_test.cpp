// Rule 9 for whole models: every parameter and gate against central differences in double.
#include "catch.hpp"
#include "model/small.hpp"
#include "support/gradient_check.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

// Without a norm losses are larger, and so is the rounding of their differences.
constexpr double kOfAnySize = 3e-6;

void check_gradients(SmallModel<double>& small, double tolerance = 1e-6) {
  small.pass.gate_gradients = true;
  const auto gradient = small.backward();
  const Matrix<double> gates = small.workspace.gate_gradients.view();
  small.pass.gate_gradients = false;
  const auto loss = [&] { return small.loss(); };
  for (const auto& entry : small.model.layout().entries()) {
    CAPTURE(entry.name);
    CHECK(gradient_error(small.parameters.view(entry.block), gradient.view(entry.block), loss,
                         tolerance) == "");
  }
  const auto all = small.model.heads().all();
  REQUIRE(gates.cols() == static_cast<Index>(all.size()));
  REQUIRE(gates.rows() == 3);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(to_string(all[i]));
    const Matrix<double> sum = Matrix<double>::Constant(1, 1, gates.col(Index(i)).sum());
    if (!small.model.is_present(all[i])) {
      CHECK(sum(0, 0) == 0);
      continue;
    }
    double& gate = small.treatment.gate.at(all[i]);
    Matrix<double> x = Matrix<double>::Constant(1, 1, gate);
    CHECK(gradient_error(
              x, sum,
              [&] {
                gate = x(0, 0);
                return loss();
              },
              tolerance) == "");
    gate = x(0, 0);
  }
}

}  // namespace

TEST_CASE("model gradients: norms, activations, positions, tied and untied outputs") {
  const std::array activations{Activation::relu, Activation::gelu, Activation::gelu_tanh};
  const auto positions = position_encodings().names();
  for (const auto norm : {NormPlacement::pre, NormPlacement::post})
    for (std::size_t i = 0; i < std::max(activations.size(), positions.size()); ++i)
      for (const bool tied : {true, false}) {
        auto config = small_config();
        config.norm = norm;
        config.activation = activations[i % activations.size()];
        config.positions = positions[i % positions.size()];
        config.tied_output = tied;
        config.scale_embedding = !tied || i == 0;
        CAPTURE(name_of(norm), name_of(config.activation), config.positions, tied);
        SmallModel<double> small(config);
        check_gradients(small);
      }
}

TEST_CASE("model gradients: norms, residuals and feed-forward of every kind, by layer") {
  for (const bool classes : {false, true})
    for (const auto& config :
         block_variants(classes ? classifier(bidirectional(small_config())) : small_config())) {
      CAPTURE(classes, blocks_of(config));
      SmallModel<double> small(config);
      check_gradients(small, kOfAnySize);
    }
}

TEST_CASE("model gradients: parts taken out one by one and together") {
  for (unsigned out = 0; out < 16; ++out) {
    auto config = out & 1U ? small_config({0, 0}) : small_config();
    if (out & 2U) config.feed_forward = 0;
    if (out & 4U) config.residual = Residual::none;
    if (out & 8U) config.norm = NormPlacement::none;
    CAPTURE(blocks_of(config));
    SmallModel<double> small(config);
    check_gradients(small, kOfAnySize);
  }
}

TEST_CASE("model gradients: every position encoding, with and without a mask") {
  for (const auto& positions : position_encodings().names())
    for (const bool causal : {true, false}) {
      auto config = small_config({3, 2}, {2, 4});
      if (!causal) config = bidirectional(config);
      config.positions = positions;
      config.relative_distance = 2;
      config.pattern_dropout = 0.2;
      CAPTURE(positions, causal);
      SmallModel<double> small(config);
      small.pass.training = true;
      small.pass.dropout_seed = 5;
      const auto site = config.site;
      const RowVector<double> mean = random_matrix<double>(1, 4, 6);
      small.treatment.gate.at({site, 0, 1}) = 0.6;
      small.treatment.mask({site, 0, 2}, MaskKind::uniform);
      small.treatment.mask({site, 1, 0}, MaskKind::mean, &mean);
      check_gradients(small);
    }
}

TEST_CASE("model gradients: classifiers of whole sequences") {
  for (const bool causal : {true, false})
    for (const auto norm : {NormPlacement::pre, NormPlacement::post}) {
      auto config = classifier(causal ? small_config() : bidirectional(small_config()));
      config.norm = norm;
      config.dropout = causal ? 0.25 : 0;
      CAPTURE(causal, name_of(norm));
      SmallModel<double> small(config);
      small.pass.training = true;
      small.pass.dropout_seed = 99;
      check_gradients(small);
      small.batch.targets[1] = -1;
      check_gradients(small);
    }
}

TEST_CASE(
    "model gradients: dropout, ragged heads and widths, an emptied layer, masks of every kind") {
  for (auto config : block_variants(small_config({2, 0, 4}, {2, 1, 3}))) {
    if (!config.norm.fits(3) || !config.residual.fits(3) || !config.feed_forward.fits(3)) continue;
    CAPTURE(blocks_of(config));
    config.positions = "learned";
    config.dropout = 0.25;
    config.pattern_dropout = 0.2;
    SmallModel<double> built(config);
    const auto removed = built.without({{Site::decoder_self, 2, 1}});
    auto& small = *removed;
    small.pass.training = true;
    small.pass.dropout_seed = 99;
    small.pass.step = 7;
    small.pass.first_row = 12;
    const RowVector<double> mean = random_matrix<double>(1, 2, 6);
    small.treatment.gate.at({Site::decoder_self, 0, 0}) = 0.6;
    small.treatment.mask({Site::decoder_self, 0, 1}, MaskKind::mean, &mean);
    small.treatment.mask({Site::decoder_self, 2, 0}, MaskKind::zero);
    small.treatment.mask({Site::decoder_self, 2, 3}, MaskKind::uniform);
    check_gradients(small, kOfAnySize);

    // Dropout did act.
    const Matrix<double> training = small.logits();
    small.pass.training = false;
    CHECK(relative_difference(small.logits(), training) > 0.01);
  }
}

TEST_CASE("gate gradients are the same without parameter gradients") {
  SmallModel<double> small;
  small.pass.gate_gradients = true;
  small.backward();
  const Matrix<double> gates = small.workspace.gate_gradients.view();
  CHECK(gates.cwiseAbs().minCoeff() > 0);
  small.backward(false);
  CHECK(same_bits(small.workspace.gate_gradients.view(), gates));
}

TEST_CASE("gate gradients come per sequence, and sum to those of ⟨W_O, its gradient⟩") {
  SmallModel<double> small(small_config({3, 2}));
  small.pass.gate_gradients = true;
  const auto gradient = small.backward();
  const Matrix<double> gates = small.workspace.gate_gradients.view();
  const auto all = small.model.heads().all();
  for (std::size_t i = 0; i < all.size(); ++i)
    CHECK(gates.col(Index(i)).sum() ==
          Approx(small.model.attention(all[i].site, all[i].layer)
                     .output_inner_product(small.parameters, gradient, all[i].head))
              .epsilon(1e-9));

  // One sequence at a time, with the weights it has in the batch: the others count for nothing.
  const auto targets = small.batch.targets;
  for (std::size_t b = 0; b < 3; ++b) {
    small.batch.targets.assign(targets.size(), -1);
    std::copy(targets.begin() + small.batch.offsets[b],
              targets.begin() + small.batch.offsets[b + 1],
              small.batch.targets.begin() + small.batch.offsets[b]);
    small.backward();
    const Matrix<double> its = small.workspace.gate_gradients.view();
    CHECK(relative_difference(its.row(Index(b)), gates.row(Index(b))) < 1e-12);
    CHECK(its.cwiseAbs().sum() == Approx(its.row(Index(b)).cwiseAbs().sum()).epsilon(1e-12));
  }
}

TEST_CASE("a model's gradients are added to, shard by shard") {
  SmallModel<double> small;
  const auto whole = small.backward();
  Parameters<double> sum(small.model.layout());
  const auto batch = small.batch;
  const auto weights = small.weights();
  for (std::size_t b = 0; b < 3; ++b) {
    small.batch = batch.sequence(b);
    Matrix<double> d_logits = small.logits();
    std::vector<RowLoss<double>> rows;
    cross_entropy<double>(d_logits, small.batch.targets, weights.data() + batch.offsets[b], rows);
    small.model.backward(small.parameters, small.batch.packed(), small.pass, d_logits,
                         small.workspace, &sum);
  }
  for (const auto& entry : small.model.layout().entries()) {
    CAPTURE(entry.name);
    const auto expected = whole.view(entry.block);
    CHECK((sum.view(entry.block) - expected).cwiseAbs().maxCoeff() <
          1e-12 * std::max(1.0, expected.cwiseAbs().maxCoeff()));
  }
}

TEST_CASE("a shard without sequences gives no logits and no gradient") {
  SmallModel<double> small;
  small.batch = {{}, {0}, {}};
  small.pass.gate_gradients = true;
  const auto gradient = small.backward();
  CHECK(small.workspace.logits.rows() == 0);
  for (Index i = 0; i < gradient.size(); ++i) CHECK(gradient.data()[i] == 0);
}
