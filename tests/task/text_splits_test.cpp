#include "task/text_splits.hpp"

#include <rapidcheck.h>

#include "base/error.hpp"
#include "catch.hpp"
#include "task/utf8.hpp"

using namespace headcount;
namespace {

TaskConfig shares(double validation, double test) {
  TaskConfig config;
  config.set("task.validation", validation);
  config.set("task.test", test);
  return config;
}

std::string text_of(const std::vector<Document>& documents) {
  std::string text;
  for (const auto& document : documents) text += document.text;
  return text;
}

std::string names_of(const std::vector<Document>& documents) {
  std::string names;
  for (const auto& document : documents) names += document.name;
  return names;
}

}  // namespace

TEST_CASE("one document is cut by characters, not bytes") {
  const Corpus corpus{"", {{"d", "d", "£bc£efgh£j"}}};
  const TextSplits splits = split_corpus(corpus, shares(0.2, 0.3));
  CHECK(text_of(splits.train) == "£bc£e");
  CHECK(text_of(splits.validation) == "fg");
  CHECK(text_of(splits.test) == "h£j");
  const TextSplits without_test = split_corpus(corpus, shares(0.2, 0));
  CHECK(text_of(without_test.train) == "£bc£efgh");
  CHECK(text_of(without_test.validation) == "£j");
  CHECK(without_test.test.empty());
}

TEST_CASE("relations go with the piece of the text that holds them") {
  using enum RelationKind;
  const Corpus corpus{"",
                      {{"d",
                        "d",
                        "£ b c £ e",
                        {{subject_verb, {0, 1}, {2, 3}},
                         {verb_object, {4, 5}, {2, 3}},
                         {adverb_verb, {8, 9}, {6, 7}}}}}};
  const TextSplits splits = split_corpus(corpus, shares(0, 0.5));
  CHECK(text_of(splits.train) == "£ b c");
  CHECK(splits.train[0].relations ==
        std::vector<Relation>{{subject_verb, {0, 1}, {2, 3}}, {verb_object, {4, 5}, {2, 3}}});
  CHECK(text_of(splits.test) == " £ e");
  CHECK(splits.test[0].relations == std::vector<Relation>{{adverb_verb, {3, 4}, {1, 2}}});
}

TEST_CASE("groups stay whole, and are taken from the end until the share is reached") {
  const Corpus corpus{"",
                      {{"a", "1", "aaaa"},
                       {"b", "1", "bbbb"},
                       {"c", "2", "cc"},
                       {"d", "2", "dd"},
                       {"e", "3", "eeee"},
                       {"f", "3", "ffff"}}};
  const TextSplits splits = split_corpus(corpus, shares(0.05, 0.4));
  CHECK(names_of(splits.train) == "ab");
  CHECK(names_of(splits.validation) == "cd");
  CHECK(names_of(splits.test) == "ef");
  CHECK_THROWS_WITH(split_corpus(corpus, shares(0.3, 0.41)), ContainsSubstring("for training"));
}

TEST_CASE("documents of one group are dealt out one by one") {
  const Corpus corpus{"", {{"a", "g", "aaaa"}, {"b", "g", "bbbb"}, {"c", "g", "cccc"}}};
  const TextSplits splits = split_corpus(corpus, shares(0.1, 0.1));
  CHECK(names_of(splits.train) == "a");
  CHECK(names_of(splits.validation) == "b");
  CHECK(names_of(splits.test) == "c");
}

TEST_CASE("impossible shares are refused") {
  const Corpus corpus{"", {{"d", "d", "0123456789"}}};
  for (const auto& [validation, test] :
       {std::pair{-0.1, 0.1}, {0.1, 1.0}, {0.5, 0.5}, {std::nan(""), 0.1}})
    CHECK_THROWS_WITH(split_corpus(corpus, shares(validation, test)), ContainsSubstring("task."));
  CHECK_THROWS_WITH(split_corpus(corpus, shares(0.01, 0.2)), ContainsSubstring("validation split"));
  CHECK_THROWS_WITH(split_corpus(corpus, shares(0.2, 0.01)), ContainsSubstring("test split empty"));
}

TEST_CASE("splits are the corpus, in order") {
  REQUIRE(rc::check("several documents", [] {
    Corpus corpus;
    for (int i = *rc::gen::inRange(1, 12); i > 0; --i)
      corpus.documents.push_back({std::to_string(i), std::to_string(i / 3),
                                  std::string(*rc::gen::inRange<std::size_t>(1, 30), 'x')});
    const auto config = shares(*rc::gen::inRange(0, 4) / 10.0, *rc::gen::inRange(0, 4) / 10.0);
    TextSplits splits;
    try {
      splits = split_corpus(corpus, config);
    } catch (const Error& error) {
      RC_DISCARD("too short to split");
    }
    RC_ASSERT(text_of(splits.train) + text_of(splits.validation) + text_of(splits.test) ==
              text_of(corpus.documents));
    RC_ASSERT(!splits.train.empty());
    if (corpus.documents.size() > 1)
      RC_ASSERT(double(text_of(splits.test).size()) >=
                config.real("task.test") * double(text_of(corpus.documents).size()));
  }));
}
