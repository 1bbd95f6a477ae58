#pragma once

#include <cstdint>
#include <vector>

#include "task/batch.hpp"
#include "task/config.hpp"
#include "task/task.hpp"
#include "task/tokenizer.hpp"

namespace headcount {

// The key task.block: T, the targets in a training window and at most in a held-out one.
TaskKey block_key();

// What a window has as targets: at every position the token that follows (for a causal language
// model), or the token that stands there.
enum class WindowTargets { following, own };

// Training windows: `block` tokens and their targets. No window crosses the end of a document; one
// with fewer than `block` targets is one window, one without targets is none.
class TrainingWindows {
 public:
  // Throws Error (bad_data) when no document has a target, or `block` < 1.
  TrainingWindows(std::vector<std::vector<Token>> documents, std::int64_t block,
                  WindowTargets targets = WindowTargets::following);

  std::int64_t count() const { return first_start_.back(); }  // windows that can be drawn
  std::int64_t longest() const { return longest_; }           // inputs
  std::int64_t tokens() const { return tokens_; }

  // Windows drawn uniformly from all, number i from the stream (seed, data_order, step, i), as many
  // as fit into `tokens` inputs (one at least). `examples` counts them within the batch.
  // Throws Error (bad_data) for a step outside 0 .. 2^32-1.
  Batch draw(std::uint64_t seed, std::int64_t step, std::int64_t tokens) const;

 private:
  std::vector<std::vector<Token>> documents_;
  std::vector<std::int64_t> first_start_;  // window starts in the documents before this one
  std::int64_t block_;
  std::int64_t ahead_;  // places from a token to its target
  std::int64_t longest_ = 0;
  std::int64_t tokens_ = 0;
};

// A document cut into windows of `block` targets back to back, the last may be shorter: every token
// is a target once, but not the first where targets are those that follow. `relations` are those of
// its tokens; a window keeps what lies in it.
std::vector<Example> held_out_windows(const TokenizedText& document, std::int64_t block,
                                      std::int64_t cluster,
                                      WindowTargets targets = WindowTargets::following,
                                      const std::vector<Relation>& relations = {});

// A step as a random stream counts it. Throws Error (bad_data) outside 0 .. 2^32-1.
std::uint32_t stream_step(std::int64_t step);

}  // namespace headcount
