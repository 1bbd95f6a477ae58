#include <fmt/format.h>

#include "task/tokenizer.hpp"
#include "task/utf8.hpp"

namespace headcount {
namespace {

class ByteTokenizer : public Tokenizer {
 public:
  ByteTokenizer() {
    for (int byte = 0; byte < 256; ++byte)
      names_.push_back(byte < 0x80 && byte >= 0x20 && byte != 0x7F
                           ? printable(std::string(1, static_cast<char>(byte)))
                       : byte == '\n' || byte == '\t'
                           ? printable(std::string(1, static_cast<char>(byte)))
                           : fmt::format("\\x{:02x}", byte));
  }

  std::int64_t size() const override { return 256; }

  TokenizedText encode(std::string_view text) const override {
    TokenizedText result;
    for (std::size_t at = 0; at < text.size(); ++at) {
      result.tokens.push_back(static_cast<unsigned char>(text[at]));
      // A code point counts where its first byte stands.
      result.characters.push_back(static_cast<std::int32_t>(count_code_points(text.substr(at, 1))));
    }
    return result;
  }

  std::string text_of(Token token) const override { return vocabulary_entry(names_, token); }

 private:
  std::vector<std::string> names_;
};

}  // namespace

TokenizerEntry byte_tokenizer() {
  return {
      {"byte", "one token per byte of UTF-8, 256 in all", ""},
      {},
      [](const TaskConfig&, const std::vector<std::string_view>&) -> std::unique_ptr<Tokenizer> {
        return std::make_unique<ByteTokenizer>();
      }};
}

}  // namespace headcount
