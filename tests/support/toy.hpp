// A task and models small enough to train within a test.
#pragma once

#include <array>
#include <cstring>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/sha256.hpp"
#include "math/random.hpp"
#include "model/model.hpp"
#include "task/task.hpp"

namespace headcount {

// Sequences of 3 to 8 tokens out of 7 in which t is followed by 3 t + 1 (mod 7): whoever learns the
// rule knows all but the first token. The second token of a held-out example has no target.
class ToyTask : public Task {
 public:
  static constexpr std::int64_t kVocabulary = 7, kLongest = 8;

  // Held-out splits of these sizes.
  explicit ToyTask(std::int64_t validation = 11, std::int64_t test = 7) {
    fill(held_out_[0], SplitName::validation, validation);
    fill(held_out_[1], SplitName::test, test);
  }

  std::int64_t vocabulary_size() const override { return kVocabulary; }
  std::int64_t longest_sequence() const override { return kLongest; }
  std::string text_of(Token token) const override { return std::string(1, char('a' + token)); }
  std::vector<std::string> metrics() const override { return {"nll", "accuracy"}; }
  Batch training_batch(std::uint64_t seed, std::int64_t step, std::int64_t tokens) const override {
    Batch batch;
    for (std::uint32_t item = 0; item == 0 || batch.input.total() + kLongest <= tokens; ++item) {
      const auto next = example({seed, Purpose::data_order, std::uint32_t(step), item});
      batch.input.append(next.input);
      batch.targets.insert(batch.targets.end(), next.targets.begin(), next.targets.end());
      batch.examples.push_back(item);
    }
    return batch;
  }
  const Split& split(SplitName name) const override { return held_out_[name == SplitName::test]; }
  std::int64_t characters(const Example& example) const override {
    return static_cast<std::int64_t>(example.input.size());
  }
  std::string data_hash() const override { return sha256_hex("toy"); }

  // Puts an example at the end of a split, for cases that the rule does not make.
  void add(SplitName name, Example example) {
    held_out_[name == SplitName::test].examples.push_back(std::move(example));
  }

 private:
  static Example example(RandomStream random) {
    Example example;
    Token token = Token(random.below(kVocabulary));
    for (auto left = 3 + random.below(kLongest - 2); left > 0; --left) {
      example.input.push_back(token);
      token = (3 * token + 1) % Token(kVocabulary);
      example.targets.push_back(token);
    }
    example.characters = std::ssize(example.input);
    return example;
  }

  static void fill(Split& split, SplitName name, std::int64_t size) {
    for (std::int64_t i = 0; i < size; ++i) {
      auto next = example({99, Purpose::synthetic_data, std::uint32_t(name), std::uint32_t(i)});
      next.targets[1] = kNoTarget;
      next.cluster = i / 4;
      split.examples.push_back(std::move(next));
    }
    for (std::int64_t document = 0; document * 4 < size; ++document)
      split.clusters.push_back("document " + std::to_string(document));
  }

  std::array<Split, 2> held_out_;  // validation, test
};

// The same sequences; asked is whether the first token is odd. The second held-out example has no
// target.
class ToyClasses : public ToyTask {
 public:
  ToyClasses() {
    for (const auto name : {SplitName::validation, SplitName::test}) {
      auto& split = held_out_[name == SplitName::test];
      split = ToyTask::split(name);
      split.targets_per = TargetsPer::sequence;
      for (auto& example : split.examples) example.targets = {example.input[0] % 2};
      split.examples[1].targets = {kNoTarget};
    }
  }
  Batch training_batch(std::uint64_t seed, std::int64_t step, std::int64_t tokens) const override {
    auto batch = ToyTask::training_batch(seed, step, tokens);
    batch.targets_per = TargetsPer::sequence;
    batch.targets.clear();
    for (std::int64_t b = 0; b < batch.input.count(); ++b)
      batch.targets.push_back(batch.input.tokens[std::size_t(batch.input.offsets[std::size_t(b)])] %
                              2);
    return batch;
  }
  const Split& split(SplitName name) const override { return held_out_[name == SplitName::test]; }

 private:
  std::array<Split, 2> held_out_;
};

// Two layers, of 2 heads with K = 6 and of 3 heads with K = 4.
inline ModelConfig toy_config() {
  ModelConfig config;
  config.vocabulary = ToyTask::kVocabulary;
  config.longest = ToyTask::kLongest;
  config.width = 12;
  config.feed_forward = 16;
  config.set_heads({2, 3}, {6, 4});
  return config;
}

inline ModelConfig toy_classifier() {
  auto config = toy_config();
  config.classes = 2;
  return config;
}

inline HeadId toy_head(int layer, int head) { return {Site::decoder_self, layer, head}; }

// Parameters with nothing at its initial 0 or 1, so that a forgotten bias or gain shows.
template <class Real>
Parameters<Real> toy_parameters(const Model<Real>& model, std::uint64_t seed) {
  auto parameters = model.initial_parameters("xavier-uniform", seed);
  std::uint32_t number = 0;
  for (const auto& entry : model.layout().entries()) {
    RandomStream random(seed, Purpose::measure, 0, number++);
    auto values = parameters.view(entry.block);
    for (Index i = 0; i < values.rows(); ++i)
      for (Index j = 0; j < values.cols(); ++j)
        values(i, j) += static_cast<Real>(0.1 * random.normal());
  }
  return parameters;
}

template <class Real>
bool same_bits(const Parameters<Real>& a, const Parameters<Real>& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(Real)) == 0;
}

}  // namespace headcount
