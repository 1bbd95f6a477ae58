#include "task/conllu.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "catch.hpp"
#include "task/data_source.hpp"
#include "task/make_task.hpp"
#include "temporary.hpp"

using namespace headcount;
namespace {

using enum RelationKind;

// "1 dogs NOUN 2 nsubj SpaceAfter=No" as a line of ten columns; the last is left out for _.
std::string row(const std::string& text) {
  auto cells = split(text, ' ');
  cells.resize(6, "_");
  return fmt::format("{}\t{}\t_\t{}\t_\t_\t{}\t{}\t_\t{}\n", cells[0], cells[1], cells[2], cells[3],
                     cells[4], cells[5]);
}

std::string rows(const std::vector<std::string>& texts) {
  std::string lines;
  for (const auto& text : texts) lines += row(text);
  return lines + "\n";
}

// "Größere dogs don't often chase cats": the verb and its negation share a token.
std::string sample() {
  return "# newdoc id = one\n# sent_id = s1\n# text = not looked at\n" +
         rows({"1 Größere ADJ 2 amod", "2 dogs NOUN 6 nsubj", "3-4 don't _ _ _", "3 do AUX 6 aux",
               "4 not PART 6 advmod", "5 often ADV 6 advmod", "6 chase VERB 0 root",
               "6.1 eat VERB _ _", "7 cats NOUN 6 obj SpaceAfter=No", "8 . PUNCT 6 punct"});
}

std::string fault(const std::string& text) {
  try {
    read_conllu(text, "f.conllu");
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TaskConfig config_for(const TemporaryFile& file) {
  TaskConfig config;
  config.set("task.data", "conllu:" + file.path());
  return config;
}

std::vector<std::string> texts_of(const Corpus& corpus) {
  std::vector<std::string> texts;
  for (const auto& document : corpus.documents) texts.push_back(document.text);
  return texts;
}

Corpus read(const std::string& content, const std::string& document) {
  const TemporaryFile file(content);
  auto config = config_for(file);
  config.set("task.conllu-document", document);
  return find_data_source(config).read(config);
}

}  // namespace

TEST_CASE("a parsed sentence, by hand") {
  const std::string text = sample();
  const auto sentences = read_conllu(text, "f");
  REQUIRE(sentences.size() == 1);
  const auto& sentence = sentences[0];
  CHECK(sentence.id == "s1");
  CHECK(sentence.opens_document);
  CHECK(sentence.document == "one");
  CHECK(sentence.text == "Größere dogs don't often chase cats.");
  REQUIRE(sentence.words.size() == 8);
  CHECK(sentence.words[0].place == Span{0, 7});  // code points
  CHECK(sentence.words[2].place == Span{13, 18});
  CHECK(sentence.words[3].place == Span{13, 18});
  CHECK(sentence.words[7].place == Span{35, 36});
  CHECK(relations_of_parse(sentence) == std::vector<Relation>{{adjective_noun, {0, 7}, {8, 12}},
                                                              {subject_verb, {8, 12}, {25, 30}},
                                                              {adverb_verb, {19, 24}, {25, 30}},
                                                              {verb_object, {31, 35}, {25, 30}}});
}

TEST_CASE("relations are those of verbs and nouns, subtypes included") {
  const auto relation = [](const std::string& dependent, const std::string& governor) {
    const std::string text = rows({"1 a " + dependent, "2 b " + governor + " 0 root"});
    return relations_of_parse(read_conllu(text, "f").at(0));
  };
  CHECK(relation("NOUN 2 nsubj:pass", "VERB").size() == 1);
  CHECK(relation("NOUN 2 nsubj", "ADJ").empty());  // is tall
  CHECK(relation("NOUN 2 nsubjx", "VERB").empty());
  CHECK(relation("NOUN 2 csubj", "VERB").empty());
  CHECK(relation("NOUN 2 iobj", "VERB").empty());
  CHECK(relation("ADJ 2 amod", "PROPN").size() == 1);
  CHECK(relation("VERB 2 amod", "NOUN").empty());
  CHECK(relation("PART 2 advmod", "VERB").empty());  // not
  CHECK(relation("ADV 2 advmod:emph", "VERB").size() == 1);
  CHECK(relation("ADV 2 advmod", "ADJ").empty());
}

TEST_CASE("words inside one token have no relation") {
  const std::string text =
      rows({"1-2 dámelo _ _ _", "1 da VERB 0 root", "2 lo PRON 1 obj", "3 hoy ADV 1 advmod"});
  CHECK(relations_of_parse(read_conllu(text, "f").at(0)) ==
        std::vector<Relation>{{adverb_verb, {7, 10}, {0, 6}}});
}

TEST_CASE("what the format does not allow is told with its line") {
  const auto word = row("1 a X 0 root");
  const auto says = [](const std::string& text, const std::string& what) {
    CHECK_THAT(fault(text), ContainsSubstring("f.conllu:" + what));
  };
  CHECK(fault(sample()) == "none");
  CHECK(fault(word) == "none");  // an end without a blank line
  CHECK(fault(word + "\n\n" + word) == "none");
  CHECK_THAT(fault(""), ContainsSubstring("f.conllu holds no sentence"));
  says("1\ta\n", "1: 2 columns");
  says(word.substr(0, word.size() - 1) + "\t_\n", "1: 11 columns");
  says("1\ta\t_\t\t_\t_\t0\troot\t_\t_\n", "1: an empty column");
  says("1\ta \t_\tX\t_\t_\t0\troot\t_\t_\n", "1: a form with blanks");
  says(word + word, "2: '1' where word 2 is due");
  says(row("2 a X 0 root"), "1: '2' where word 1 is due");
  says(row("x a X 0 root"), "1: 'x' where word 1 is due");
  says(row("+1 a X 0 root"), "1: '+1' where word 1 is due");
  says(row("99999999999999999999 a X 0 root"), "1: '99999999999999999999' where");
  says(row("1 a X 1 root"), "1: the head of word 1 is '1'");
  says(row("1 a X _ root"), "1: the head of word 1 is '_'");
  says(row("1 a X -1 root"), "1: the head of word 1 is '-1'");
  says("\n" + row("1 a X 3 dep") + row("2 b X 0 root"), "2: the head of word 1 is 3, but");
  says(word + "# late\n", "2: a comment inside a sentence");
  says("# alone\n\n" + word, "2: a sentence without words");
  says(row("1-1 a _ _ _"), "1: a token of the words 1-1; one here begins with word 1 and has two");
  says(row("2-3 a _ _ _"), "1: a token of the words 2-3; one here begins with word 1");
  says(row("1-x a _ _ _"), "1: a token of the words 1-x; one here begins with word 1");
  says(row("1-3 a _ _ _") + word + row("2-3 b _ _ _"),
       "3: a token of the words 2-3 inside one that goes on to word 3");
  says(row("1-2 a _ _ _") + word + "\n", "3: the sentence ends inside a token");
  says(word + row("1.2 e _ _ _"), "2: an empty node out of order; the next one here is 1.1");
  says(row("1.1 e _ _ _"), "1: an empty node out of order; the next one here is 0.1");
  CHECK(fault(row("0.1 e _ _ _") + word + row("1.1 e _ _ _") + row("1.2 e _ _ _")) == "none");
}

TEST_CASE("heads that lead in a circle are told") {
  const auto says = [](const std::vector<std::string>& words, const std::string& what) {
    CHECK_THAT(fault(rows({"1 a X 0 root"}) + rows(words)), ContainsSubstring(what));
  };
  says({"1 a X 2 dep", "2 b X 1 dep"},
       "f.conllu:3: the head of word 1 is 2, and from there heads lead back to word 1;");
  // The circle may stand apart from the root, and be entered from outside.
  says({"1 a X 0 root", "2 b X 4 dep", "3 c X 2 dep", "4 d X 3 dep"}, "f.conllu:4: the head of");
  says({"1 a X 2 dep", "2 b X 3 dep", "3 c X 2 dep"}, "f.conllu:4: the head of word 2 is 3");
  // No circles: a chain that is entered twice, and two roots.
  CHECK(fault(rows({"1 a X 2 dep", "2 b X 3 dep", "3 c X 0 root", "4 d X 2 dep"})) == "none");
  CHECK(fault(rows({"1 a X 0 root", "2 b X 0 root", "3 c X 1 dep"})) == "none");
}

TEST_CASE("a document is a sentence or a newdoc, and splits hold whole newdocs") {
  const std::string one = rows({"1 a X 0 root"}),
                    two = rows({"1 b NOUN 2 nsubj", "2 c VERB 0 root"});
  const std::string text =
      one + "# newdoc\n" + one + two + "# newdoc id = x\n# sent_id = s\n" + two;
  const auto sentences = read(text, "sentence");
  CHECK(texts_of(sentences) == std::vector<std::string>{"a", "a", "b c", "b c"});
  CHECK(sentences.documents[0].name == "sentence 1");
  CHECK(sentences.documents[3].name == "s");
  CHECK(sentences.documents[1].group == sentences.documents[2].group);
  CHECK(sentences.documents[0].group != sentences.documents[1].group);
  CHECK(sentences.documents[2].group != sentences.documents[3].group);
  const auto newdocs = read(text, "newdoc");
  CHECK(texts_of(newdocs) == std::vector<std::string>{"a", "a\nb c", "b c"});
  CHECK(newdocs.documents[1].relations == std::vector<Relation>{{subject_verb, {2, 3}, {4, 5}}});
  CHECK(newdocs.documents[0].name == "before newdoc");
  CHECK_THROWS_WITH(read(one + two, "newdoc"), ContainsSubstring("has no comment newdoc"));
}

TEST_CASE("examples of a parsed corpus know its relations under every tokenizer") {
  std::string text;
  for (int i = 0; i < 10; ++i) text += sample();
  const TemporaryFile file(text, "corpus.conllu");
  for (const std::string kind : {"language-model", "masked-lm"})
    for (const std::string tokenizer : {"character", "byte", "word"}) {
      CAPTURE(kind, tokenizer);
      auto config = config_for(file);
      config.set("task.kind", kind);
      config.set("task.tokenizer", tokenizer);
      const auto task = make_task(config);
      const auto plain = [&] {  // masked-lm hides tokens: the same windows unhidden
        auto same = config;
        same.set("task.kind", "language-model");
        return make_task(same);
      }();
      const auto& example = task->split(SplitName::test).examples.at(0);
      const auto& input = plain->split(SplitName::test).examples.at(0).input;
      const auto words = [&](const Span& span) {
        std::string word;
        for (auto i = span.first; i < span.end; ++i)
          word += plain->text_of(input.at(std::size_t(i)));
        return word;
      };
      REQUIRE(example.relations.size() == 4);
      CHECK(example.relations[1].kind == subject_verb);
      CHECK(words(example.relations[1].dependent) == "dogs");
      CHECK(words(example.relations[1].governor) == "chase");
      CHECK(words(example.relations[3].dependent) == "cats");
      CHECK_THAT(
          task->report(),
          ContainsSubstring("subject-verb: 1 relations in test; validation's best offset finds"));
    }
}

TEST_CASE("the data hash covers relations") {
  const TemporaryFile file(sample() + sample() + sample());
  std::string other = sample() + sample() + sample();
  other.replace(other.find("amod"), 4, "nmod");
  const TemporaryFile without(other);
  CHECK(make_task(config_for(file))->data_hash() != make_task(config_for(without))->data_hash());
}

TEST_CASE("a conllu source names a file") {
  TaskConfig config;
  config.set("task.data", "conllu:");
  CHECK_THROWS_WITH(make_task(config), ContainsSubstring("write conllu:PATH"));
  config.set("task.data", "conllu:/no/such/file");
  CHECK_THROWS_WITH(make_task(config), ContainsSubstring("/no/such/file"));
}
