#include "run/schema.hpp"

#include "attention/scores/score_function.hpp"
#include "attention/treatment.hpp"
#include "base/text.hpp"
#include "math/activation.hpp"
#include "measure/measure.hpp"
#include "model/initialization/scheme.hpp"
#include "model/positions/position_encoding.hpp"
#include "model/sublayer.hpp"
#include "prune/pruning.hpp"
#include "task/make_task.hpp"
#include "train/schedule.hpp"

namespace headcount {
namespace {

using namespace type;

std::vector<Key> seed_keys() {
  return {
      {"seed.init", integer(0), Default::same_as("seed"),
       "seed of initialization, dropout and random pruning orders"},
      {"seed.data", integer(0), Default::same_as("seed"), "seed of the order of training data"},
  };
}

Key key_of(const TaskKey& key) {
  struct Read {
    const TaskKey& key;
    Key with(ValueType type, std::string fallback) const {
      return {key.name, std::move(type), std::move(fallback), key.help, key.unit};
    }
    Key operator()(const TaskKey::Integer& of) const {
      return with(integer(of.least, of.most), std::to_string(of.fallback));
    }
    Key operator()(const TaskKey::Real& of) const {
      return with(real(of.range.notation()), shortest(of.fallback));
    }
    Key operator()(const TaskKey::Choice& of) const { return with(choice(of.names), of.fallback); }
    Key operator()(const TaskKey::Text& of) const { return with(text(), of.fallback); }
  };
  return std::visit(Read{key}, key.type);
}

std::vector<Key> keys_of_tasks() {
  std::vector<Key> keys;
  for (const TaskKey& key : task_keys()) keys.push_back(key_of(key));
  return keys;
}

std::vector<Key> model_keys() {
  std::vector<std::string> activations;
  for (const auto a : {Activation::relu, Activation::gelu, Activation::gelu_tanh})
    activations.emplace_back(name_of(a));
  return {
      {"model.layers", integer(1, 1024), "2", "blocks in the stack"},
      {"model.d-model", integer(1, 65536), "128", "width of the residual stream"},
      {"model.heads", integers(0, 4096), "4", "heads per layer: one number, or one a layer"},
      {"model.feed-forward", integers(0, 1'048'576).or_word("auto"), "auto",
       "inner width of the feed-forward sublayer, 0 for none, one or one a layer; auto: 4 times "
       "d-model"},
      {"model.norm", choices(norm_placement_names()), "pre",
       "a norm before or after sublayers, one or one a layer; after a last layer with pre, one "
       "more"},
      {"model.norm-kind", choice(norm_kind_names()), "layer",
       "layer norm, or rms: without mean and bias"},
      {"model.residual", choices(residual_names()), "plain",
       "of a stream x and a sublayer's y: x + y, y, ω ∘ x + y or x + α y, ω and α trained; "
       "one or one a layer"},
      {"model.activation", choice(activations), "gelu", "of the feed-forward sublayer"},
      {"model.positions", choice(position_encodings().names()), "sinusoidal",
       "how tokens learn where they stand"},
      {"model.relative-distance", integer(1, 4096), "16",
       "with relative positions, from which distance on they are not told apart", "tokens"},
      {"model.init", choice(initialization_schemes().names()), "xavier-uniform",
       "what parameters start as"},
      {"model.dropout", real("[0, 1)"), "0",
       "on embeddings and on what sublayers add to the stream"},
      {"model.tied-output", boolean(), "yes", "the output uses the token embedding"},
      {"model.scale-embedding", boolean(), "yes", "token embeddings are multiplied by √d-model"},
  };
}

std::vector<Key> attention_keys() {
  return {
      {"attention.head-width", integer(1, 65536).or_word("auto"), "auto",
       "columns of a head; auto: d-model / heads"},
      {"attention.mask", choice({"causal", "none"}),
       Default::by("task.kind", {{"classify", "none"}, {"masked-lm", "none"}}, "causal"),
       "which keys a query sees; none makes the stack an encoder and, in a language model, lets "
       "every token but the last see the next one, which it is to predict"},
      {"attention.score", choice(score_functions().names()), "scaled-dot",
       "how well a key answers a query"},
      {"attention.share", choice(sharings().names()), "none",
       "which of the projections of queries, keys and values are one; identity, which has none, "
       "needs heads · head-width = d-model"},
      {"attention.kv-heads", integer(1, 4096).or_word("auto"), "auto",
       "heads of keys and values, each shared by as many consecutive heads; auto: one for each"},
      {"attention.average", boolean(), "no",
       "adds to a layer's attention the mean of what its tokens see, through weights of its own; "
       "with heads = 0 that is all of it. It is no head and has no gate"},
      {"attention.dropout", real("[0, 1)"), "0", "on attention patterns"},
  };
}

std::vector<Key> train_keys() {
  return {
      {"train.steps", integer(0), "1000", "updates"},
      {"train.batch-tokens", integer(1), "2048", "about as many tokens in a batch", "tokens"},
      {"train.learning-rate", real("(0, inf)"), "1e-3", "its peak"},
      {"train.schedule", choice(schedule_names()), "cosine", "after warm-up"},
      {"train.warm-up", integer(0), "100", "steps over which the learning rate rises from 0"},
      {"train.clip", real("[0, inf)"), "1", "largest gradient norm; 0: none"},
      {"train.weight-decay", real("[0, inf)"), "0", "of AdamW, on matrices and embeddings"},
      {"train.beta-1", real("[0, 1)"), "0.9", "of AdamW"},
      {"train.beta-2", real("[0, 1)"), "0.999", "of AdamW"},
      {"train.epsilon", real("(0, inf)"), "1e-8", "of AdamW"},
      {"train.shards", integer(1, 256), "2",
       "pieces a batch is cut into; at most as many threads can work on it"},
      {"train.precision", choice(precision_names()), "float32",
       "of the inputs of large products in training; all else, measures included, is float32"},
      {"train.record-every", integer(1), "10", "steps between records of every layer"},
      {"train.validate-every", integer(0), "200", "steps between validations; 0: only at the end"},
  };
}

std::vector<Key> after_training_keys() {
  return {
      {"mask.heads", heads(), "", "heads masked, for example decoder_self:0:*, decoder_self:1:2"},
      {"mask.kind", choice(mask_kind_names()), "zero", "what masking does to a head"},
      {"mask.when", choice({"train", "evaluate", "both"}), "evaluate", "when the mask acts"},
      {"evaluate.parameters", choice({"last", "best"}), "last",
       "those after the last step, or those with the lowest validation nll"},
      {"evaluate.examples", integer(0), "0",
       "most examples scored in a held-out split, evenly spread; 0: all"},
      {"evaluate.generation", integer(0), "0",
       "held-out examples also scored as in generation, each token predicted from those before it "
       "alone; 0: none"},
      {"measure.measures", names(measures().names()), "", "per-head measures of the trained model"},
      {"measure.during-training", names(measures().names()), "",
       "per-head measures taken at every validation"},
      {"measure.split", choice({"validation", "test"}), "validation", "where heads are measured"},
      {"measure.examples", integer(0), "1000", "most examples measured; 0: all"},
      {"measure.patterns", integer(0, 100'000), "0", "sequences whose patterns are stored"},
      {"prune.methods", names(pruning_methods().names()), "", "orders in which heads are removed"},
      {"prune.orders", integer(1, 1000), "5", "orders that a random method draws"},
      {"prune.step", real("(0, 1]"), "0.1", "share of the heads removed from point to point"},
      {"prune.examples", integer(0), "1000", "most examples scored, for order and curve; 0: all"},
      {"prune.build-at", integers(0, 100), "50",
       "percent of heads removed at which the smaller model is built and compared; one or "
       "(several)"},
      {"prune.latency", integer(0, 1000), "9",
       "repetitions, at most, of timing a smaller model that is built beside the intact one; 0: "
       "none"},
  };
}

Schema make_schema() {
  std::vector<Key> keys;
  for (auto& part : {seed_keys(), keys_of_tasks(), model_keys(), attention_keys(), train_keys(),
                     after_training_keys()})
    keys.insert(keys.end(), part.begin(), part.end());
  return Schema(std::move(keys));
}

}  // namespace

const Schema& experiment_schema() {
  static const Schema schema = make_schema();
  return schema;
}

}  // namespace headcount
