#include "task/text_data.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "task/text_splits.hpp"
#include "task/utf8.hpp"

namespace headcount {
namespace {

std::string hash_of(const Corpus& corpus, const DataSource& source, const TaskConfig& config,
                    const Tokenizer& tokenizer) {
  Sha256 hash;
  hash.add_piece(config.text("task.kind"));
  hash.add_piece(source.about.name);
  for (const auto& document : corpus.documents) {
    hash.add_piece(document.name);
    hash.add_piece(document.group);
    hash.add_piece(document.text);
    for (const auto& [kind, dependent, governor] : document.relations)
      hash.add_piece(fmt::format("{} {} {} {} {}", name_of(kind), dependent.first, dependent.end,
                                 governor.first, governor.end));
  }
  hash.add_piece(config.text("task.tokenizer"));
  hash.add_piece(tokenizer.state());
  for (const auto& value :
       {std::to_string(config.integer("task.block")), shortest(config.real("task.validation")),
        shortest(config.real("task.test"))})
    hash.add_piece(value);
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
               std::int64_t block, WindowTargets targets, SplitName name) {
  Split split;
  for (const auto& document : documents) {
    const TokenizedText text = tokenizer.encode(document.text);
    auto examples = held_out_windows(text, block, std::ssize(split.clusters), targets,
                                     relations_of_tokens(document.relations, text.characters));
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

std::string facts_of(const Corpus& corpus, const TaskConfig& config, const TextSplits& splits,
                     const TrainingWindows& windows) {
  std::size_t bytes = 0;
  for (const auto& document : corpus.documents) bytes += document.text.size();
  return fmt::format(
      "path: {}\nsize: {} bytes, {} characters, {} documents\ntokenizer: {}\n"
      "train: {} tokens, {} characters, {} documents\n",
      corpus.origin, bytes, characters_in(corpus.documents), corpus.documents.size(),
      config.text("task.tokenizer"), windows.tokens(), characters_in(splits.train),
      splits.train.size());
}

}  // namespace

TextData read_text_data(const TaskConfig& config, const DataSource& source, WindowTargets targets) {
  const Corpus corpus = source.read(config);
  const TextSplits splits = split_corpus(corpus, config);
  const std::int64_t block = config.integer("task.block");
  auto tokenizer =
      tokenizers().at(config.text("task.tokenizer")).make(config, texts_of(splits.train));
  TrainingWindows windows(tokens_of(splits.train, *tokenizer), block, targets);
  const auto cut = [&](const std::vector<Document>& documents, SplitName name) {
    return held_out(documents, *tokenizer, block, targets, name);
  };
  HeldOut held_out{cut(splits.validation, SplitName::validation),
                   cut(splits.test, SplitName::test)};
  const std::int64_t longest = std::max(windows.longest(), held_out.longest());
  auto hash = hash_of(corpus, source, config, *tokenizer);
  auto facts = facts_of(corpus, config, splits, windows);
  return {std::move(tokenizer), std::move(windows), std::move(held_out), longest,
          std::move(hash),      std::move(facts)};
}

std::vector<TaskKey> text_keys() {
  return {tokenizer_key(), block_key(), share_key(SplitName::validation),
          share_key(SplitName::test)};
}

}  // namespace headcount
