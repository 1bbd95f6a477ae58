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
