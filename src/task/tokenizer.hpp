#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/registry.hpp"
#include "task/batch.hpp"
#include "task/config.hpp"

namespace headcount {

struct TokenizedText {
  std::vector<Token> tokens;
  std::vector<std::int32_t> characters;  // code points of the text that each token stands for
};

// Text to tokens 0 .. size()-1. Immutable.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual std::int64_t size() const = 0;
  virtual TokenizedText encode(std::string_view text) const = 0;  // text is well-formed UTF-8
  virtual std::string text_of(Token token) const = 0;  // printable UTF-8; throws Error (bad_data)
                                                       // for a token that does not exist
  std::string state() const;  // its vocabulary, one entry a line: what the data hash covers
};

struct TokenizerEntry {
  About about;
  std::vector<TaskKey> keys;
  // Built from the texts of the training split, and nothing else.
  std::unique_ptr<Tokenizer> (*make)(const TaskConfig&, const std::vector<std::string_view>& texts);
};

const Registry<TokenizerEntry>& tokenizers();

// The key task.tokenizer, of every task over text.
TaskKey tokenizer_key();

// The entries, one file each.
#define HEADCOUNT_ENTRY(entry) TokenizerEntry entry();
#include "task/tokenizers.def"
#undef HEADCOUNT_ENTRY

// For tokenizers: entry `token` of a vocabulary, or the error that names its bounds.
const std::string& vocabulary_entry(const std::vector<std::string>& vocabulary, Token token);

}  // namespace headcount
