#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "math/random.hpp"
#include "task/make_task.hpp"
#include "task/text_data.hpp"

namespace headcount {
namespace {

// What a model is to restore: a share of the tokens, and of these how many stand as a random token
// or as themselves; <mask> stands in place of the others.
struct Cloze {
  double share = 0, random = 0, kept = 0;
  Token mask = 0;  // behind the vocabulary of the text
};

Cloze cloze_of(const TaskConfig& config, Token mask) {
  const Cloze cloze{config.real("task.masked"), config.real("task.masked-random"),
                    config.real("task.masked-kept"), mask};
  if (cloze.random + cloze.kept > 1)
    throw Error(ExitCode::bad_data,
                fmt::format("task.masked-random = {} and task.masked-kept = {} are more than all "
                            "targets",
                            shortest(cloze.random), shortest(cloze.kept)));
  return cloze;
}

// Of a window whose targets are its own tokens, round(share · T) targets stay, one at least; every
// choice of so many is as likely (Knuth's algorithm S). What `stand_in` returns stands in for each.
template <class StandIn>
void hide(double share, RandomStream& random, std::span<Token> input, std::span<Token> targets,
          const StandIn& stand_in) {
  auto left = static_cast<std::uint32_t>(input.size());
  auto wanted =
      std::max(static_cast<std::uint32_t>(std::lround(share * static_cast<double>(left))), 1U);
  for (std::size_t i = 0; i < input.size(); ++i, --left) {
    if (random.below(left) < wanted) {
      input[i] = stand_in(input[i]);
      --wanted;
    } else {
      targets[i] = kNoTarget;
    }
  }
}

class MaskedLanguageModel : public Task {
 public:
  MaskedLanguageModel(const TaskConfig& config, TextData data)
      : data_(std::move(data)),
        cloze_(cloze_of(config, static_cast<Token>(data_.tokenizer->size()))) {
    hide_held_out(data_.held_out.validation, SplitName::validation);
    hide_held_out(data_.held_out.test, SplitName::test);
  }

  std::int64_t vocabulary_size() const override { return data_.tokenizer->size() + 1; }
  std::int64_t longest_sequence() const override { return data_.longest; }
  std::string text_of(Token token) const override {
    return token == cloze_.mask ? "<mask>" : data_.tokenizer->text_of(token);
  }
  std::vector<std::string> metrics() const override { return {"nll", "perplexity", "accuracy"}; }

  // The windows of a language model's batch, each hidden by a stream of its own.
  Batch training_batch(std::uint64_t seed, std::int64_t step, std::int64_t tokens) const override {
    Batch batch = data_.windows.draw(seed, step, tokens);
    for (std::int64_t b = 0; b < batch.input.count(); ++b) {
      const auto first = static_cast<std::size_t>(batch.input.offsets[static_cast<std::size_t>(b)]);
      const auto length = static_cast<std::size_t>(batch.input.length(b));
      RandomStream random(seed, Purpose::hidden_tokens, stream_step(step),
                          static_cast<std::uint32_t>(b));
      hide(cloze_.share, random, std::span(batch.input.tokens).subspan(first, length),
           std::span(batch.targets).subspan(first, length),
           [&](Token token) { return stand_in(token, random); });
    }
    return batch;
  }

  const Split& split(SplitName name) const override { return data_.held_out.at(name); }
  std::int64_t characters(const Example& example) const override { return example.characters; }
  std::string data_hash() const override {
    return sha256_hex(fmt::format("{} {} {} {}", data_.hash, shortest(cloze_.share),
                                  shortest(cloze_.random), shortest(cloze_.kept)));
  }
  std::string report() const override { return data_.facts + Task::report(); }

 private:
  Token stand_in(Token token, RandomStream& random) const {
    const double u = random.uniform();
    if (u < cloze_.random)
      return static_cast<Token>(random.below(static_cast<std::uint32_t>(cloze_.mask)));
    return u < cloze_.random + cloze_.kept ? token : cloze_.mask;
  }

  // Always <mask>, so that a score says how well what is not there is restored. No characters: a
  // metric per character is that of a text which is read once.
  void hide_held_out(Split& split, SplitName name) const {
    for (std::size_t i = 0; i < split.examples.size(); ++i) {
      Example& example = split.examples[i];
      RandomStream random(kHeldOutSeed, Purpose::hidden_tokens, static_cast<std::uint32_t>(name),
                          static_cast<std::uint32_t>(i));
      hide(cloze_.share, random, example.input, example.targets,
           [&](Token) { return cloze_.mask; });
      example.characters = 0;
    }
  }

  TextData data_;
  Cloze cloze_;
};

std::unique_ptr<Task> make(const TaskConfig& config) {
  const DataSource& source = find_data_source(config);
  require_source(config, source.read != nullptr, "text");
  return std::make_unique<MaskedLanguageModel>(config,
                                               read_text_data(config, source, WindowTargets::own));
}

}  // namespace

TaskEntry masked_lm_task() {
  auto keys = text_keys();
  keys.push_back({"task.masked", TaskKey::Real{0.15, Interval("(0, 1]")},
                  "with masked-lm, share of the tokens that are to be restored"});
  keys.push_back({"task.masked-random", TaskKey::Real{0.1, Interval("[0, 1]")},
                  "with masked-lm, of these the share that stands as a random token in training"});
  keys.push_back({"task.masked-kept", TaskKey::Real{0.1, Interval("[0, 1]")},
                  "with masked-lm, of these the share that stands as itself in training"});
  return {{"masked-lm",
           "restore tokens hidden behind <mask> from those on both sides; in held-out examples "
           "always the same ones, all behind <mask>",
           "Devlin et al. 2019, section 3.1"},
          std::move(keys),
          make};
}

}  // namespace headcount
