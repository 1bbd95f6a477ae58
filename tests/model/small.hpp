// A small model with a packed batch, and what a test does with it.
#pragma once

#include "math/cross_entropy.hpp"
#include "model/model.hpp"
#include "support/matrices.hpp"

namespace headcount::test {

// Two layers of three heads, on sequences of at most eight tokens.
inline ModelConfig small_config(const std::vector<int>& heads = {3, 3},
                                std::vector<Index> head_widths = {2}) {
  ModelConfig config;
  config.vocabulary = 11;
  config.longest = 8;
  config.width = 6;
  config.feed_forward = 7;
  config.set_heads(heads, std::move(head_widths));
  return config;
}

inline ModelConfig bidirectional(ModelConfig config) {
  config.site = Site::encoder_self;
  config.original = HeadCounts(Site::encoder_self, config.original.layers(Site::decoder_self));
  config.mask = AttentionMask::none;
  return config;
}

// Three classes for every sequence instead of symbols for every token.
inline ModelConfig classifier(ModelConfig config) {
  config.classes = 3;
  return config;
}

// Every placement and kind of norm, every residual, with and without feed-forward; and layers that
// differ.
inline std::vector<ModelConfig> block_variants(const ModelConfig& base = small_config()) {
  std::vector<ModelConfig> all;
  for (const auto norm : {NormPlacement::pre, NormPlacement::post, NormPlacement::none})
    for (const auto kind : {NormKind::layer, NormKind::rms})
      for (const auto residual :
           {Residual::plain, Residual::none, Residual::scaled_stream, Residual::scaled_sublayer})
        for (const Index inner : {7, 0}) {
          if (norm == NormPlacement::none && kind == NormKind::rms) continue;
          auto config = base;
          config.norm = norm;
          config.norm_kind = kind;
          config.residual = residual;
          config.feed_forward = inner;
          all.push_back(config);
        }
  auto mixed = base;
  mixed.norm = std::vector{NormPlacement::post, NormPlacement::pre};
  mixed.residual = std::vector{Residual::scaled_sublayer, Residual::scaled_stream};
  mixed.feed_forward = std::vector<Index>{0, 5};
  all.push_back(mixed);
  mixed.norm = std::vector{NormPlacement::pre, NormPlacement::none};
  mixed.residual = std::vector{Residual::none, Residual::plain};
  mixed.feed_forward = std::vector<Index>{3, 0};
  all.push_back(mixed);
  return all;
}

// For CAPTURE.
inline std::string blocks_of(const ModelConfig& config) {
  auto text = fmt::format("{} norm;", name_of(config.norm_kind));
  for (std::size_t layer = 0; layer < config.heads.size(); ++layer)
    text += fmt::format(" {} heads, norm {}, residual {}, feed-forward {};",
                        config.heads[layer].size(), name_of(config.norm.at(layer)),
                        name_of(config.residual.at(layer)), config.feed_forward.at(layer));
  return text;
}

struct SmallBatch {
  std::vector<std::int32_t> tokens{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 10, 0};
  std::vector<std::int64_t> offsets{0, 5, 6, 14};
  std::vector<std::int32_t> targets{1, 4, 1, 5, -1, 7, 6, 5, 3, 5, 8, 10, 0, 2};
  PackedTokens packed() const { return {tokens, offsets}; }
  bool one_target_each() const { return targets.size() + 1 == offsets.size(); }
  SmallBatch sequence(std::size_t b) const {
    const auto cut = [&](const std::vector<std::int32_t>& all) {
      return std::vector<std::int32_t>(all.begin() + offsets[b], all.begin() + offsets[b + 1]);
    };
    return {cut(tokens),
            {0, offsets[b + 1] - offsets[b]},
            one_target_each() ? std::vector{targets[b]} : cut(targets)};
  }
};

template <class Real>
struct SmallModel {
  Model<Real> model;
  Parameters<Real> parameters;
  HeadTreatment<Real> treatment;
  ModelPass<Real> pass;
  ModelWorkspace<Real> workspace;
  SmallBatch batch;

  explicit SmallModel(ModelConfig config = small_config()) : SmallModel(Model<Real>(config)) {
    // Wide enough that softmaxes and activations are far from linear.
    std::uint32_t seed = 1;
    for (const auto& entry : model.layout().entries())
      parameters.view(entry.block) =
          random_matrix<Real>(entry.block.rows, entry.block.cols, seed++, 0.5);
    if (model.config().classes > 0) batch.targets = {2, 0, 1};
  }
  SmallModel(Model<Real> given, Parameters<Real> values) : SmallModel(std::move(given)) {
    parameters = std::move(values);
  }
  SmallModel(const SmallModel&) = delete;
  SmallModel& operator=(const SmallModel&) = delete;

  Matrix<Real> logits() {
    pass.treatment = &treatment;
    model.forward(parameters, batch.packed(), pass, workspace);
    return workspace.logits.view();
  }

  std::vector<double> weights() const {
    std::vector<double> w;
    for (std::size_t i = 0; i < batch.targets.size(); ++i)
      w.push_back(0.5 + 0.25 * static_cast<double>(i % 3));
    return w;
  }

  // Σ weights · nll.
  double loss() {
    Matrix<Real> copy = logits();
    std::vector<RowLoss<Real>> rows;
    cross_entropy<Real>(copy, batch.targets, nullptr, rows);
    double total = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
      total += weights()[i] * static_cast<double>(rows[i].nll);
    return total;
  }

  // The gradient of loss(); the gates' goes to workspace.gate_gradients.
  Parameters<Real> backward(bool with_parameters = true) {
    Parameters<Real> gradient(model.layout());
    Matrix<Real> d_logits = logits();
    std::vector<RowLoss<Real>> rows;
    const auto exact = weights();
    const std::vector<Real> w(exact.begin(), exact.end());
    cross_entropy<Real>(d_logits, batch.targets, w.data(), rows);
    model.backward(parameters, batch.packed(), pass, d_logits, workspace,
                   with_parameters ? &gradient : nullptr);
    return gradient;
  }

  // The physically smaller model on the same batch.
  std::unique_ptr<SmallModel> without(const std::vector<HeadId>& heads) const {
    auto smaller = model.without(heads);
    auto values = model.shrink(parameters, smaller);
    auto result = std::make_unique<SmallModel>(std::move(smaller), std::move(values));
    result->batch = batch;
    return result;
  }

 private:
  explicit SmallModel(Model<Real> given)
      : model(std::move(given)),
        parameters(model.layout()),
        treatment(HeadTreatment<Real>::intact(model.heads())) {}
};

}  // namespace headcount::test
