#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "model/model.hpp"

namespace headcount {

// What computations are made of, as far as their time goes. Amounts add up over a trial; a
// machine's time for a unit of each is measured (run/calibration.hpp). Where two computations cost
// alike on every machine they share a feature.
enum class Feature {
  product_flops,       // of the large products; a multiply-add is 2
  product_elements,    // read and written by large products
  products,            // calls of large products
  head_flops,          // of the products of one head and sequence
  head_elements,       // of queries, keys, values, contexts and their gradients in those products
  pattern_elements,    // visits of an entry of a pattern
  pattern_rows,        // visits of a row of a pattern
  slices,              // visits of one head and sequence
  exponentials,        // in softmax
  error_functions,     // in gelu, with its slope
  tangents,            // in gelu-tanh
  elements,            // visits of an entry of the activations by norms, sums, copies and the like
  random_numbers,      // drawn for dropout
  parameter_elements,  // visits of a parameter or its gradient
  updates,             // of a parameter by AdamW
  tokens,              // fed to a model
  sequences,           // fed to a model
  steps,               // of training
  observed_elements,   // of a pattern, seen by a measure
  logarithms,          // in entropies
  bfloat16_flops,      // of large products whose inputs are bfloat16
};
inline constexpr std::size_t kFeatures = 21;

std::string_view name_of(Feature feature);  // "product-flops"
std::array<Feature, kFeatures> all_features();

// An amount of every feature.
class Work {
 public:
  double& operator[](Feature feature) { return amounts_[static_cast<std::size_t>(feature)]; }
  double operator[](Feature feature) const { return amounts_[static_cast<std::size_t>(feature)]; }

  // In matrix products, large and of heads, as the field counts them.
  double flops() const {
    return (*this)[Feature::product_flops] + (*this)[Feature::bfloat16_flops] +
           (*this)[Feature::head_flops];
  }

  Work& operator+=(const Work& other);
  friend Work operator+(Work a, const Work& b) { return a += b; }
  friend Work operator*(double times, Work work) {
    for (double& amount : work.amounts_) amount *= times;
    return work;
  }

 private:
  std::array<double, kFeatures> amounts_{};
};

// A model as its work goes. Heads need not be whole: the mean of several models is one.
struct ModelShape {
  struct Layer {
    double heads = 0, head_width = 0;
    double key_value_heads = 0, group = 1;  // AttentionConfig::group
    double feed_forward = 0;                // F; 0: the sublayer is absent
    NormPlacement norm = NormPlacement::pre;
    Residual residual = Residual::plain;
    double columns() const { return heads * head_width; }  // H·K
    double sublayers() const { return feed_forward > 0 ? 2 : 1; }
  };
  double vocabulary = 0, longest = 0, width = 0;
  double classes = 0;  // of a classifier, which gives one output a sequence
  std::vector<Layer> layers;
  bool causal = true, final_norm = true, untied_output = false;
  NormKind norm_kind = NormKind::layer;
  Activation activation = Activation::gelu;
  double dropout = 0, pattern_dropout = 0;
  // Of the position encoding: its parameters, what it does to heads, and how many rows its tables
  // add to the keys or values of one.
  double position_parameters = 0;
  Sharing sharing = Sharing::none;
  bool takes_tangents = false;  // the score function, of every column for every score
  double score_parameters = 0;  // of the score function, for a column of a head
  bool average = false;         // average attention is added
  bool turns_vectors = false, adds_to_scores = false, adds_to_contexts = false;
  double rows_beside = 0;

  static ModelShape of(const ModelConfig& config);

  double heads() const;
  // Columns of a layer's projections of queries, keys and values.
  double projected(const Layer& layer) const {
    return projected_columns(sharing, layer.columns(), layer.key_value_heads * layer.head_width);
  }
  double outputs() const { return classes > 0 ? classes : vocabulary; }
  double parameters() const;  // trained numbers: ParameterLayout::count()
  // With this share of every layer's heads gone, whichever they are.
  ModelShape without(double share) const;
};

// Packed sequences as their work goes; linear in the number of sequences.
struct BatchShape {
  double sequences = 0;  // B
  double tokens = 0;     // N
  double squares = 0;    // Σ T² over the sequences
  double targets = 0;    // tokens with a loss

  BatchShape& operator+=(const BatchShape& other) {
    sequences += other.sequences;
    tokens += other.tokens;
    squares += other.squares;
    targets += other.targets;
    return *this;
  }
  friend BatchShape operator*(double times, const BatchShape& shape) {
    return {times * shape.sequences, times * shape.tokens, times * shape.squares,
            times * shape.targets};
  }
};

// Which heads work in a pass: a masked head (kind zero or mean) is not computed.
struct HeadsAtWork {
  double share = 1;
  bool observed = false;  // all are computed, for an observer or for the gradients of their gates
};

// One forward pass with the loss; `training` adds dropout.
Work forward_work(const ModelShape& model, const BatchShape& batch, HeadsAtWork heads = {},
                  bool training = false);

// The backward pass after it: down to the embeddings with the parameters' gradients in training,
// else of activations only.
Work backward_work(const ModelShape& model, const BatchShape& batch, HeadsAtWork heads,
                   bool training);

struct StepShape {
  BatchShape batch;
  double shards = 1;
  double record_every = 1;
  Precision precision = Precision::float32;
};
// One training step: batch, passes over every shard, update.
Work step_work(const ModelShape& model, const StepShape& step, HeadsAtWork heads = {});

// Passes over held-out examples in the evaluator's batches of about `batch_tokens` tokens:
// Evaluator::run, Evaluator::ablations of every head at work, and Evaluator::gate_gradients.
Work pass_work(const ModelShape& model, const BatchShape& examples, HeadsAtWork heads = {},
               double batch_tokens = 2048);
Work ablation_work(const ModelShape& model, const BatchShape& examples, HeadsAtWork heads = {},
                   double batch_tokens = 2048);
Work gate_gradient_work(const ModelShape& model, const BatchShape& examples, HeadsAtWork heads = {},
                        double batch_tokens = 2048);

// What a measure of patterns adds to the pass in which it observes.
Work observation_work(std::string_view measure, const ModelShape& model,
                      const BatchShape& examples);

}  // namespace headcount
