#include "task/tokenizer.hpp"

#include <numeric>

#include <rapidcheck.h>

#include "base/error.hpp"
#include "catch.hpp"
#include "task/utf8.hpp"

using namespace headcount;
namespace {

std::unique_ptr<Tokenizer> make(const std::string& name, std::string_view training_text,
                                const TaskConfig& config = {}) {
  return tokenizers().at(name).make(config, {training_text});
}

std::vector<std::string> pieces(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string> names;
  for (const Token token : tokenizer.encode(text).tokens) names.push_back(tokenizer.text_of(token));
  return names;
}

using Pieces = std::vector<std::string>;
using Counts = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("bytes") {
  const auto bytes = make("byte", "");
  CHECK(bytes->size() == 256);
  CHECK(bytes->encode("A£").tokens == std::vector<Token>{0x41, 0xC2, 0xA3});
  CHECK(bytes->encode("A£").characters == Counts{1, 1, 0});
  CHECK(pieces(*bytes, "a\n\\£\x7f") == Pieces{"a", "\\n", "\\\\", "\\xc2", "\\xa3", "\\x7f"});
  CHECK_THROWS_AS(bytes->text_of(256), Error);
  CHECK_THROWS_AS(bytes->text_of(-1), Error);
}

TEST_CASE("characters of the training text, in order of code point") {
  const auto characters = make("character", "ba£b\n");
  CHECK(characters->size() == 5);
  CHECK(characters->state() == "<unk>\n\\n\na\nb\n£\n");
  CHECK(characters->encode("ab€").tokens == std::vector<Token>{2, 3, 0});
  CHECK(characters->encode("ab€").characters == Counts{1, 1, 1});
}

TEST_CASE("words, punctuation, and the characters they stand for") {
  const auto words = make("word", "the well-bred Mr. Bennet, don't “go” -- 'tis _so_ the end's'");
  CHECK(pieces(*words, "the well-bred Mr. Bennet,") ==
        Pieces{"the", "well", "-", "bred", "Mr", ".", "Bennet", ","});
  CHECK(pieces(*words, "don't “go” -- 'tis") ==
        Pieces{"don't", "“", "go", "”", "-", "-", "'", "tis"});
  CHECK(pieces(*words, "_so_ end's'") == Pieces{"_", "so", "_", "end's", "'"});
  CHECK(pieces(*words, "The\n\n the") == Pieces{"<unk>", "the"});
  CHECK(words->encode(" The\n\n the.").characters == Counts{4, 6, 1});
  CHECK(words->encode("“naïve” ").characters == Counts{1, 5, 1});
}

TEST_CASE("a word vocabulary is the most frequent words, within its size") {
  TaskConfig config;
  config.set("task.vocabulary", 3);
  const std::string_view text = "b b b a a a c c d";
  CHECK(make("word", text, config)->state() == "<unk>\na\nb\n");
  config.set("task.vocabulary", 100);
  config.set("task.min-count", 2);
  CHECK(make("word", text, config)->state() == "<unk>\na\nb\nc\n");
}

TEST_CASE("tokens stay in the vocabulary and stand for all characters") {
  REQUIRE(rc::check("any text", [] {
    const auto letters =
        *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::element<std::uint32_t>(
            'a', 'b', 'c', ' ', '\n', '.', '\'', '-', 0xA3, 0x2019, 0x201C, 0x3000, 0x1F600));
    std::string text;
    for (const std::uint32_t c : letters) append_utf8(text, c);
    std::string without_end = text;  // trailing white space belongs to no word
    while (!without_end.empty() && (without_end.ends_with(' ') || without_end.ends_with('\n') ||
                                    without_end.ends_with("\u3000")))
      without_end.resize(without_end.size() - (without_end.ends_with("\u3000") ? 3 : 1));
    for (const auto& entry : tokenizers().entries()) {
      const auto tokenizer = entry.make({}, {"ab c."});
      const TokenizedText encoded = tokenizer->encode(without_end);
      RC_ASSERT(encoded.tokens.size() == encoded.characters.size());
      for (const Token token : encoded.tokens) RC_ASSERT(token >= 0 && token < tokenizer->size());
      RC_ASSERT(std::accumulate(encoded.characters.begin(), encoded.characters.end(),
                                std::int64_t{}) == count_code_points(without_end));
    }
  }));
}
