#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "task/batch.hpp"
#include "task/relation.hpp"

namespace headcount {

enum class SplitName { train, validation, test };
std::string_view name_of(SplitName split);
SplitName parse_split(std::string_view text);  // throws Error (bad_data)

// One scored example of a held-out split.
struct Example {
  std::vector<Token> input;
  std::vector<Token> targets;   // as long as input, or one: see Split; kNoTarget where no loss is
  std::int64_t cluster = 0;     // the document it comes from, as an index into Split::clusters
  std::int64_t characters = 0;  // Unicode code points of text that its targets stand for
  std::vector<Relation> relations = {};  // gold relations between words of the input
};

struct Split {
  std::vector<Example> examples;
  std::vector<std::string> clusters;  // names of documents
  TargetsPer targets_per = TargetsPer::token;
  std::int64_t target_count() const;
};

// The fixed examples of a task.
struct HeldOut {
  Split validation, test;
  // Throws Error (bad_data) for train, which has batches instead.
  const Split& at(SplitName name) const;
  std::int64_t longest() const;  // input
};

// What is drawn for held-out examples is the same whatever the seed of a trial.
inline constexpr std::uint64_t kHeldOutSeed = 0x68656164636F756E;

// A task: where training batches and held-out examples come from. Immutable once made; safe to
// share between threads.
class Task {
 public:
  virtual ~Task() = default;

  virtual std::int64_t vocabulary_size() const = 0;
  // The names of the classes that targets count, where a target is the class of a whole sequence.
  virtual std::vector<std::string> classes() const { return {}; }
  virtual std::int64_t longest_sequence()
      const = 0;  // over all splits; what a position table must cover
  virtual std::string text_of(
      Token token) const = 0;  // one token, printable UTF-8, for stored patterns
  virtual std::vector<std::string> metrics()
      const = 0;  // names from score/: nll, perplexity, bits_per_character, accuracy

  // The batch of one training step, a function of (seed, step) alone: about `tokens` tokens of
  // whole sequences.
  virtual Batch training_batch(std::uint64_t seed, std::int64_t step,
                               std::int64_t tokens) const = 0;

  // Held-out examples (validation or test), always the same ones in the same order; none where the
  // split's fraction is 0. Throws Error (bad_data) for train.
  virtual const Split& split(SplitName name) const = 0;

  // Characters of text that the targets of one example stand for (for bits per character); 0 where
  // there is no text.
  virtual std::int64_t characters(const Example& example) const = 0;

  // SHA-256 over all that determines the examples: source bytes, tokenizer, splits.
  virtual std::string data_hash() const = 0;

  // What a person wants to know of the data: lines "name: value".
  virtual std::string report() const;
};

// Consecutive examples packed into batches of at most `tokens` tokens each (one example at least).
std::vector<Batch> pack(const Split& split, std::int64_t tokens);

}  // namespace headcount
