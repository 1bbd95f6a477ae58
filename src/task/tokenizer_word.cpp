#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "task/tokenizer.hpp"
#include "task/utf8.hpp"

namespace headcount {
namespace {

bool is_space(char32_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xA0 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x3000;
}

bool is_punctuation(char32_t c) {
  if (c < 0x80)
    return (c > ' ' && c < '0') || (c > '9' && c < 'A') || (c > 'Z' && c < 'a') ||
           (c > 'z' && c < 0x7F);
  return c == 0xA1 || c == 0xA7 || c == 0xAB || c == 0xB6 || c == 0xB7 || c == 0xBB || c == 0xBF ||
         (c >= 0x2010 && c <= 0x2027) || (c >= 0x2030 && c <= 0x205E) ||
         (c >= 0x3001 && c <= 0x3003) || (c >= 0x3008 && c <= 0x3011);
}

bool is_apostrophe(char32_t c) { return c == '\'' || c == 0x2019; }

// Cuts a text into words and punctuation, one after the other.
class WordReader {
 public:
  explicit WordReader(std::string_view text) : text_(text) {}

  // The next word; nothing at the end.
  std::optional<std::string_view> next() {
    const std::size_t before = at_;
    while (at_ < text_.size() && is_space(peek(at_).value)) at_ = peek(at_).behind;
    if (at_ == text_.size()) return std::nullopt;
    const std::size_t start = at_;
    const Peek first = peek(at_);
    at_ = first.behind;
    if (!is_punctuation(first.value)) extend_word();
    characters_ = count_code_points(text_.substr(before, at_ - before));
    return text_.substr(start, at_ - start);
  }

  // Code points of the last word and of the white space before it.
  std::int64_t characters() const { return characters_; }

 private:
  struct Peek {
    char32_t value;
    std::size_t behind;
  };
  Peek peek(std::size_t at) const {
    const char32_t value = next_code_point(text_, at);
    return {value, at};
  }
  bool letter_at(std::size_t at) const {
    return at < text_.size() && !is_space(peek(at).value) && !is_punctuation(peek(at).value);
  }
  // Letters, and an apostrophe between two letters.
  void extend_word() {
    while (at_ < text_.size()) {
      const Peek here = peek(at_);
      if (!letter_at(at_) && !(is_apostrophe(here.value) && letter_at(here.behind))) return;
      at_ = here.behind;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::int64_t characters_ = 0;
};

class WordTokenizer : public Tokenizer {
 public:
  WordTokenizer(const TaskConfig& config, const std::vector<std::string_view>& texts) {
    std::map<std::string_view, std::int64_t> counts;
    for (const std::string_view text : texts) {
      WordReader reader(text);
      while (const auto word = reader.next()) ++counts[*word];
    }
    const std::int64_t least_count = config.integer("task.min-count");
    const std::int64_t vocabulary = config.integer("task.vocabulary");
    std::vector<std::pair<std::string_view, std::int64_t>> words(counts.begin(), counts.end());
    std::erase_if(words, [&](const auto& word) { return word.second < least_count; });
    std::ranges::stable_sort(words, std::greater{}, [](const auto& word) { return word.second; });
    if (std::ssize(words) >= vocabulary) words.resize(static_cast<std::size_t>(vocabulary - 1));
    for (const auto& word : words) {
      tokens_.emplace(word.first, static_cast<Token>(names_.size()));
      names_.push_back(printable(word.first));
    }
  }

  std::int64_t size() const override { return std::ssize(names_); }

  TokenizedText encode(std::string_view text) const override {
    TokenizedText result;
    WordReader reader(text);
    while (const auto word = reader.next()) {
      const auto known = tokens_.find(std::string(*word));
      result.tokens.push_back(known == tokens_.end() ? kUnknown : known->second);
      result.characters.push_back(static_cast<std::int32_t>(reader.characters()));
    }
    return result;
  }

  std::string text_of(Token token) const override { return vocabulary_entry(names_, token); }

 private:
  static constexpr Token kUnknown = 0;
  std::vector<std::string> names_{"<unk>"};
  std::unordered_map<std::string, Token> tokens_;
};

}  // namespace

TokenizerEntry word_tokenizer() {
  return {
      {"word",
       "words between white space as they are written, every punctuation mark one of its own "
       "(but not the apostrophe in don't); most frequent first, after <unk>. White space counts "
       "as characters of the word behind it",
       ""},
      {{"task.vocabulary", TaskKey::Integer{10'000, 2},
        "with the word tokenizer, the most words kept, <unk> included"},
       {"task.min-count", TaskKey::Integer{1, 1},
        "with the word tokenizer, rarer words are <unk>"}},
      [](const TaskConfig& config, const std::vector<std::string_view>& texts)
          -> std::unique_ptr<Tokenizer> { return std::make_unique<WordTokenizer>(config, texts); }};
}

}  // namespace headcount
