#include "task/tokenizer.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace headcount {

std::string Tokenizer::state() const {
  std::string text;
  for (Token token = 0; token < size(); ++token) text += text_of(token) + '\n';
  return text;
}

const Registry<TokenizerEntry>& tokenizers() {
  static const Registry<TokenizerEntry> registry("tokenizer", {
#define HEADCOUNT_ENTRY(entry) entry(),
#include "task/tokenizers.def"
#undef HEADCOUNT_ENTRY
                                                              });
  return registry;
}

TaskKey tokenizer_key() {
  return {"task.tokenizer", TaskKey::Choice{"character", tokenizers().names()}, "what a token is"};
}

const std::string& vocabulary_entry(const std::vector<std::string>& vocabulary, Token token) {
  if (token < 0 || token >= std::ssize(vocabulary))
    throw Error(ExitCode::bad_data, fmt::format("there is no token {} in a vocabulary of {}", token,
                                                vocabulary.size()));
  return vocabulary[static_cast<std::size_t>(token)];
}

}  // namespace headcount
