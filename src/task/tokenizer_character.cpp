#include <set>
#include <unordered_map>

#include "task/tokenizer.hpp"
#include "task/utf8.hpp"

namespace headcount {
namespace {

class CharacterTokenizer : public Tokenizer {
 public:
  explicit CharacterTokenizer(const std::vector<std::string_view>& texts) {
    std::set<char32_t> seen;
    for (const std::string_view text : texts)
      for (std::size_t at = 0; at < text.size();) seen.insert(next_code_point(text, at));
    for (const char32_t character : seen) {
      tokens_[character] = static_cast<Token>(names_.size());
      std::string text;
      append_utf8(text, character);
      names_.push_back(printable(text));
    }
  }

  std::int64_t size() const override { return std::ssize(names_); }

  TokenizedText encode(std::string_view text) const override {
    TokenizedText result;
    for (std::size_t at = 0; at < text.size();) {
      const auto known = tokens_.find(next_code_point(text, at));
      result.tokens.push_back(known == tokens_.end() ? kUnknown : known->second);
    }
    result.characters.assign(result.tokens.size(), 1);
    return result;
  }

  std::string text_of(Token token) const override { return vocabulary_entry(names_, token); }

 private:
  static constexpr Token kUnknown = 0;
  std::vector<std::string> names_{"<unk>"};
  std::unordered_map<char32_t, Token> tokens_;
};

}  // namespace

TokenizerEntry character_tokenizer() {
  return {{"character",
           "one token per Unicode code point; those of the training text in order of code point, "
           "after <unk>",
           ""},
          {},
          [](const TaskConfig&,
             const std::vector<std::string_view>& texts) -> std::unique_ptr<Tokenizer> {
            return std::make_unique<CharacterTokenizer>(texts);
          }};
}

}  // namespace headcount
