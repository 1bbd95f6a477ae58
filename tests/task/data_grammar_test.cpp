#include <set>

#include "catch.hpp"
#include "task/data_source.hpp"
#include "task/make_task.hpp"

using namespace headcount;
namespace {

TaskConfig grammar(std::int64_t sentences = 2'000) {
  TaskConfig config;
  config.set("task.data", "synthetic.grammar");
  config.set("task.tokenizer", "word");
  config.set("task.grammar-sentences", sentences);
  return config;
}

Corpus read(const TaskConfig& config) { return find_data_source(config).read(config); }

}  // namespace

TEST_CASE("a grammar's corpus is the same every time, and no sentence stands in it twice") {
  const Corpus corpus = read(grammar()), again = read(grammar());
  REQUIRE(corpus.documents.size() == 2'000);
  std::set<std::string> texts;
  for (std::size_t i = 0; i < corpus.documents.size(); ++i) {
    CHECK(corpus.documents[i].text == again.documents[i].text);
    CHECK(corpus.documents[i].relations == again.documents[i].relations);
    CHECK_FALSE(corpus.documents[i].relations.empty());
    texts.insert(corpus.documents[i].text);
  }
  CHECK(texts.size() == 2'000);
  CHECK(read(grammar(100)).documents.back().text == corpus.documents[99].text);
}

TEST_CASE("sentences are examples of a language model") {
  const auto task = make_task(grammar());
  const Split& test = task->split(SplitName::test);
  CHECK(test.clusters.size() > 150);
  CHECK(test.examples.size() == test.clusters.size());
  CHECK(task->longest_sequence() > 30);
  CHECK(task->longest_sequence() < 100);
  CHECK(task->vocabulary_size() > 1'000);
  CHECK(task->training_batch(3, 4, 500) == make_task(grammar())->training_batch(3, 4, 500));
  std::set<std::string> hashes{task->data_hash(), make_task(grammar(1'999))->data_hash()};
  TaskConfig easier = grammar();
  easier.set("task.grammar-distractors", 0.0);
  hashes.insert(make_task(easier)->data_hash());
  CHECK(hashes.size() == 3);
}

TEST_CASE("relations of sentences reach the examples of every task over text") {
  TaskConfig config = grammar(20'000);
  for (const std::string kind : {"language-model", "masked-lm"}) {
    CAPTURE(kind);
    config.set("task.kind", kind);
    const auto task = make_task(config);
    const Split& test = task->split(SplitName::test);
    std::size_t relations = 0;
    for (const Example& example : test.examples) relations += example.relations.size();
    CHECK(relations > 10'000);
    const auto guesses = best_offsets(test.examples);
    CHECK(guesses.size() == 5);
    for (const OffsetGuess& guess : guesses) {
      CAPTURE(name_of(guess.kind), guess.relations, guess.to_governor);
      CHECK(double(guess.found_to_governor) <= 0.6 * double(guess.relations));
      CHECK(double(guess.found_to_dependent) <= 0.6 * double(guess.relations));
    }
  }
}

TEST_CASE("a relation of a sentence spans the tokens of its words") {
  for (const std::string tokenizer : {"word", "character", "byte"}) {
    TaskConfig config = grammar(200);
    config.set("task.tokenizer", tokenizer);
    config.set("task.block", 1'000);
    const Corpus corpus = read(config);
    const auto task = make_task(config);
    const Split& test = task->split(SplitName::test);
    const auto first = corpus.documents.size() - test.examples.size();
    for (std::size_t i = 0; i < test.examples.size(); ++i) {
      const Document& document = corpus.documents[first + i];
      const Example& example = test.examples[i];
      REQUIRE(example.relations.size() == document.relations.size());
      const auto text_at = [&](const Span& span) {
        std::string text;
        for (auto token = span.first; token < span.end; ++token)
          text += task->text_of(example.input[static_cast<std::size_t>(token)]);
        return text;
      };
      const auto word_at = [&](const Span& span) {
        return document.text.substr(static_cast<std::size_t>(span.first),
                                    static_cast<std::size_t>(span.end - span.first));
      };
      for (std::size_t k = 0; k < example.relations.size(); ++k) {
        const std::string found = text_at(example.relations[k].dependent);
        if (found != "<unk>") CHECK(found == word_at(document.relations[k].dependent));
      }
    }
  }
}
