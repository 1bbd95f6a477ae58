#include <set>

#include "base/error.hpp"
#include "catch.hpp"
#include "task/make_task.hpp"
#include "temporary.hpp"

using namespace headcount;
namespace {

std::string sample_text() {
  std::string text;
  for (int i = 0; i < 400; ++i)
    text += "Line " + std::to_string(i * i) + (i % 5 ? ", don't “stop”.\n" : "\n\n");
  return text;
}

TaskConfig config_for(const TemporaryFile& file) {
  TaskConfig config;
  config.set("task.data", "file:" + file.path());
  config.set("task.block", 16);
  return config;
}

std::int64_t characters_of(const Task& task, SplitName name) {
  std::int64_t characters = 0;
  for (const auto& example : task.split(name).examples) characters += task.characters(example);
  return characters;
}

}  // namespace

TEST_CASE("every tokenizer makes a task of a file") {
  const TemporaryFile file(sample_text());
  TaskConfig config = config_for(file);
  for (const std::string tokenizer : {"byte", "character", "word"}) {
    config.set("task.tokenizer", tokenizer);
    const auto task = make_task(config);
    CHECK(task->longest_sequence() == 16);
    CHECK(task->training_batch(1, 0, 64).input.count() == 4);
    std::set<Token> tokens;
    for (const SplitName name : {SplitName::validation, SplitName::test}) {
      const Split& split = task->split(name);
      CHECK(split.target_count() > 0);
      CHECK(split.clusters == std::vector<std::string>{"document 1"});
      for (const auto& example : split.examples)
        tokens.insert(example.targets.begin(), example.targets.end());
    }
    CHECK((*tokens.begin() >= 0 && *tokens.rbegin() < task->vocabulary_size()));
    CHECK(task->metrics() ==
          std::vector<std::string>{"nll", "perplexity", "bits_per_character", "accuracy"});
  }
}

TEST_CASE("bits per character count the same characters under every tokenizer") {
  // All ends in letters, so that no token is cut and no white space is left over.
  const TemporaryFile file("one\ftwo £ “three” four\ffive six");
  TaskConfig config = config_for(file);
  config.set("task.document-separator", "form-feed");
  const auto characters = [&](const std::string& tokenizer, SplitName name) {
    config.set("task.tokenizer", tokenizer);
    return characters_of(*make_task(config), name);
  };
  // The first token of a document is never a target: a byte, a character or a word.
  CHECK_THROWS_WITH(characters("word", SplitName::test), ContainsSubstring("2 tokens"));
  const TemporaryFile longer("one two\ftwo £ “three” four\ffive six");
  config.set("task.data", "file:" + longer.path());
  CHECK(characters("character", SplitName::validation) == 17);
  CHECK(characters("byte", SplitName::validation) == 17);
  CHECK(characters("word", SplitName::validation) == 15);
  CHECK(characters("word", SplitName::test) == 4);
}

TEST_CASE("the vocabulary comes from the training split") {
  const TemporaryFile file("abababababababababZZ");
  TaskConfig config = config_for(file);
  config.set("task.validation", 0.0);
  const auto task = make_task(config);
  CHECK(task->vocabulary_size() == 3);
  CHECK(task->split(SplitName::test).examples.at(0).targets == std::vector<Token>{0});
  CHECK(task->text_of(0) == "<unk>");
  CHECK(task->split(SplitName::validation).examples.empty());
  CHECK_THROWS_WITH(task->split(SplitName::train), ContainsSubstring("no fixed examples"));
}

TEST_CASE("the data hash covers what determines the examples, and nothing else") {
  const TemporaryFile file(sample_text());
  const auto hash = [](const TaskConfig& config) { return make_task(config)->data_hash(); };
  const TaskConfig base = config_for(file);
  std::set<std::string> hashes{hash(base)};
  const auto changes = [&](auto&& change) {
    TaskConfig config = base;
    change(config);
    CHECK(hashes.insert(hash(config)).second);
  };
  const TemporaryFile other(sample_text() + ".");
  changes([&](TaskConfig& config) { config.set("task.data", "file:" + other.path()); });
  changes([](TaskConfig& config) { config.set("task.tokenizer", "byte"); });
  changes([](TaskConfig& config) { config.set("task.tokenizer", "word"); });
  changes([](TaskConfig& config) {
    config.set("task.tokenizer", "word");
    config.set("task.vocabulary", 50);
  });
  changes([](TaskConfig& config) { config.set("task.block", 17); });
  changes([](TaskConfig& config) { config.set("task.validation", 0.11); });
  changes([](TaskConfig& config) { config.set("task.test", 0.11); });
  changes([](TaskConfig& config) { config.set("task.document-separator", "blank-line"); });

  const TemporaryFile moved(sample_text(), "elsewhere.txt");
  CHECK(hash(config_for(moved)) == hash(base));
  TaskConfig unrelated = base;
  unrelated.set("task.recall-pairs", 3);
  CHECK(hash(unrelated) == hash(base));
}

TEST_CASE("equal seeds give the same windows whatever the tokenizer's vocabulary") {
  const TemporaryFile file(sample_text());
  TaskConfig config = config_for(file);
  config.set("task.tokenizer", "word");
  const auto large = make_task(config);
  config.set("task.vocabulary", 20);
  const auto small = make_task(config);
  const Batch a = large->training_batch(3, 9, 100), b = small->training_batch(3, 9, 100);
  REQUIRE(a.input.offsets == b.input.offsets);
  for (std::size_t i = 0; i < a.targets.size(); ++i)
    if (b.targets[i] != 0) CHECK(large->text_of(a.targets[i]) == small->text_of(b.targets[i]));
}
