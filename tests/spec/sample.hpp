#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/experiment.hpp"

namespace headcount {

// A schema with a key of every kind, enough for the specs that users write most.
inline Schema sample_schema() {
  return Schema({
      {"task.kind", type::choice({"language-model", "masked-lm", "classify", "translate"}),
       "language-model", "What is learned."},
      {"task.data", type::text(), Default::required(), "A named source, or file:PATH."},
      {"task.tokenizer", type::choice({"character", "byte"}), "character", "How text is cut."},
      {"model.layers", type::integer(1, 64), "4", "Layers of a stack."},
      {"model.d-model", type::integer(1, 8192), "128", "Width."},
      {"model.heads", type::integers(1, 1024), "8", "Heads, one number or one per layer."},
      {"model.norm", type::choices({"pre", "post"}), "pre", "Norm, one or one per layer."},
      {"model.positions", type::choice({"none", "sinusoidal", "learned"}), "sinusoidal",
       "Position encoding."},
      {"model.init", type::choice({"xavier-uniform", "gaussian"}), "xavier-uniform",
       "Initialization."},
      {"attention.score", type::choice({"scaled-dot", "dot", "additive"}), "scaled-dot", "Score."},
      {"attention.share", type::choice({"none", "qk", "qkv", "identity"}), "none", "Sharing."},
      {"attention.mask", type::choice({"causal", "none"}), "causal", "What a query may see."},
      {"attention.head-width", type::integer(1, 4096).or_word("auto"), "auto", "Head width."},
      {"seed.init", type::integer(0), Default::same_as("seed"), "Replicate of initialization."},
      {"seed.data", type::integer(0), Default::same_as("seed"), "Replicate of the data's order."},
      {"train.steps", type::integer(0), "1000", "Steps.", "steps"},
      {"train.rate", type::real("(0, 1]"), "3e-4", "Learning rate."},
      {"train.dropout", type::real("[0, 1)"), "0.10", "Dropout."},
      {"train.shuffle", type::boolean(), "yes", "Whether data are shuffled."},
      {"train.precision", type::choice({"float32", "float64"}), "float32", "Arithmetic."},
      {"mask.heads", type::heads(), "", "Heads that are masked."},
      {"mask.kind", type::choice({"zero", "mean", "uniform"}), "zero", "How."},
      {"mask.when", type::choice({"train", "evaluate", "both"}), "evaluate", "When."},
      {"measure.measures",
       type::names({"entropy", "confidence", "importance.gradient", "importance.ablation"}), "",
       "What is measured."},
      {"measure.patterns", type::integer(0), "0", "Sequences whose patterns are stored."},
      {"prune.methods", type::names({"importance.gradient", "magnitude", "random"}), "",
       "Orders of removal."},
  });
}

inline constexpr const char* kSampleData = "[task]\ndata = austen\n";  // the required key

inline Experiment parse(const std::string& text, const SpecOptions& options = {},
                        const SettingsCheck& check = {}) {
  return parse_experiment(text, "test.ini", sample_schema(), options, check);
}

// The problems of a spec as one text; "" when it has none.
inline std::string problems_of(const std::string& text, const SpecOptions& options = {},
                               const SettingsCheck& check = {}) {
  try {
    parse(text, options, check);
    return "";
  } catch (const SpecError& error) {
    return error.what();
  }
}

}  // namespace headcount
