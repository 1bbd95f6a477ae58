#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "task/data_source.hpp"
#include "task/make_task.hpp"
#include "task/text_splits.hpp"
#include "task/tokenizer.hpp"
#include "task/utf8.hpp"
#include "task/windows.hpp"

namespace headcount {
namespace {

std::string hash_of(const Corpus& corpus, const DataSource& source, const TaskConfig& config,
                    const Tokenizer& tokenizer) {
  Sha256 hash;
  // Every piece with its length, so that no two inputs run together to the same bytes.
  const auto add = [&](std::string_view piece) {
    hash.add(fmt::format("{}:", piece.size()));
    hash.add(piece);
  };
  add("language-model");
  add(source.about.name);
  for (const auto& document : corpus.documents) {
    add(document.name);
    add(document.group);
    add(document.text);
  }
  add(config.text("task.tokenizer"));
  add(tokenizer.state());
  for (const auto& value :
       {std::to_string(config.integer("task.block")), shortest(config.real("task.validation")),
        shortest(config.real("task.test"))})
    add(value);
  return hash.hex();
}

std::vector<std::string_view> texts_of(const std::vector<Document>& documents) {
  std::vector<std::string_view> texts;
  texts.reserve(documents.size());
  for (const auto& document : documents) texts.emplace_back(document.text);
  return texts;
}

std::vector<std::vector<Token>> tokens_of(const std::vector<Document>& documents,
                                          const Tokenizer& tokenizer) {
  std::vector<std::vector<Token>> tokens;
  tokens.reserve(documents.size());
  for (const auto& document : documents) tokens.push_back(tokenizer.encode(document.text).tokens);
  return tokens;
}

Split held_out(const std::vector<Document>& documents, const Tokenizer& tokenizer,
               std::int64_t block, SplitName name) {
  Split split;
  for (const auto& document : documents) {
    auto examples =
        held_out_windows(tokenizer.encode(document.text), block, std::ssize(split.clusters));
    split.clusters.push_back(document.name);
    std::ranges::move(examples, std::back_inserter(split.examples));
  }
  if (!documents.empty() && split.examples.empty())
    throw Error(ExitCode::bad_data,
                fmt::format("the {} split has nothing to predict: no document of 2 tokens or more; "
                            "raise task.{}",
                            name_of(name), name_of(name)));
  return split;
}

std::int64_t characters_in(const std::vector<Document>& documents) {
  std::int64_t characters = 0;
  for (const auto& document : documents) characters += count_code_points(document.text);
  return characters;
}

// Causal next-token prediction over text.
class TextLanguageModel : public Task {
 public:
  TextLanguageModel(const Corpus& corpus, const DataSource& source, const TaskConfig& config)
      : TextLanguageModel(corpus, source, config, split_corpus(corpus, config)) {}

  std::int64_t vocabulary_size() const override { return tokenizer_->size(); }
  std::int64_t longest_sequence() const override { return longest_; }
  std::string text_of(Token token) const override { return tokenizer_->text_of(token); }
  std::vector<std::string> metrics() const override {
    return {"nll", "perplexity", "bits_per_character", "accuracy"};
  }
  Batch training_batch(std::uint64_t seed, std::int64_t step, std::int64_t tokens) const override {
    return windows_.draw(seed, step, tokens);
  }
  const Split& split(SplitName name) const override {
    if (name == SplitName::train)
      throw Error(ExitCode::bad_data,
                  "the train split has training batches and no fixed examples; take validation or "
                  "test");
    return name == SplitName::validation ? validation_ : test_;
  }
  std::int64_t characters(const Example& example) const override { return example.characters; }
  std::string data_hash() const override { return hash_; }
  std::string report() const override { return facts_ + Task::report(); }

 private:
  TextLanguageModel(const Corpus& corpus, const DataSource& source, const TaskConfig& config,
                    const TextSplits& splits)
      : tokenizer_(
            tokenizers().at(config.text("task.tokenizer")).make(config, texts_of(splits.train))),
        windows_(tokens_of(splits.train, *tokenizer_), config.integer("task.block")),
        validation_(held_out(splits.validation, *tokenizer_, config.integer("task.block"),
                             SplitName::validation)),
        test_(held_out(splits.test, *tokenizer_, config.integer("task.block"), SplitName::test)),
        hash_(hash_of(corpus, source, config, *tokenizer_)) {
    longest_ = windows_.longest();
    for (const Split* split : {&validation_, &test_})
      for (const Example& example : split->examples)
        longest_ = std::max(longest_, std::ssize(example.input));
    describe(corpus, config, splits);
  }

  void describe(const Corpus& corpus, const TaskConfig& config, const TextSplits& splits) {
    std::size_t bytes = 0;
    for (const auto& document : corpus.documents) bytes += document.text.size();
    facts_ = fmt::format(
        "path: {}\nsize: {} bytes, {} characters, {} documents\ntokenizer: {}\n"
        "train: {} tokens, {} characters, {} documents\n",
        corpus.origin, bytes, characters_in(corpus.documents), corpus.documents.size(),
        config.text("task.tokenizer"), windows_.tokens(), characters_in(splits.train),
        splits.train.size());
  }

  std::unique_ptr<Tokenizer> tokenizer_;
  TrainingWindows windows_;
  Split validation_, test_;
  std::string hash_;
  std::string facts_;
  std::int64_t longest_ = 0;
};

std::unique_ptr<Task> make(const TaskConfig& config) {
  const DataSource& source = find_data_source(config);
  if (source.generate) return source.generate(config);
  return std::make_unique<TextLanguageModel>(source.read(config), source, config);
}

}  // namespace

TaskEntry language_model_task() {
  return {
      {"language-model", "predict the next token from those before it (causal)", ""},
      {tokenizer_key(), block_key(), share_key(SplitName::validation), share_key(SplitName::test)},
      make};
}

}  // namespace headcount
