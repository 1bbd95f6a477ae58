#include "task/grammar.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>

#include <rapidcheck.h>

#include "catch.hpp"
#include "task/lexicon.hpp"
#include "task/task.hpp"

using namespace headcount;
namespace {

enum class Kind { noun, pronoun, transitive, intransitive, adjective, adverb, other };

struct Word {
  Kind kind = Kind::other;
  std::optional<GrammaticalNumber> number;
  std::optional<Gender> gender;  // none: any

  bool is_verb() const { return kind == Kind::transitive || kind == Kind::intransitive; }
  bool may_stand_for(const Word& noun) const {
    return number == noun.number && (!gender || gender == noun.gender);
  }
};

using enum GrammaticalNumber;

const std::map<std::string, Word, std::less<>>& dictionary() {
  static const auto words = [] {
    std::map<std::string, Word, std::less<>> known;
    for (const auto number : {singular, plural}) {
      for (const Noun& noun : lexicon().nouns.words())
        known[noun.forms.form(number)] = {Kind::noun, number, noun.gender};
      for (const Inflected& verb : lexicon().transitive_verbs.words())
        known[verb.form(number)] = {Kind::transitive, number, {}};
      for (const Inflected& verb : lexicon().intransitive_verbs.words())
        known[verb.form(number)] = {Kind::intransitive, number, {}};
      for (const Inflected& determiner : lexicon().determiners) known[determiner.form(number)];
    }
    for (const auto& word : lexicon().adjectives.words()) known[word] = {Kind::adjective, {}, {}};
    for (const auto& word : lexicon().adverbs.words()) known[word] = {Kind::adverb, {}, {}};
    for (const auto* word : {"he", "him"})
      known[word] = {Kind::pronoun, singular, Gender::masculine};
    for (const auto* word : {"she", "her"})
      known[word] = {Kind::pronoun, singular, Gender::feminine};
    known["it"] = {Kind::pronoun, singular, Gender::neuter};
    for (const auto* word : {"they", "them"}) known[word] = {Kind::pronoun, plural, {}};
    for (const auto* list :
         {&lexicon().modifiers, &lexicon().prepositions, &lexicon().conjunctions})
      for (const auto& word : *list) known[word];
    known["that"];
    return known;
  }();
  return words;
}

struct Place {
  Span span;
  std::string text;
  Word word;
};

// The words of a sentence, each of which must be known, and its relations between their numbers.
struct Read {
  std::vector<Place> words;
  std::vector<Relation> relations;  // spans of one word each
};

Read read(const GrammarSentence& sentence) {
  Read result;
  const std::string& text = sentence.text;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t end = std::min(text.find_first_of(" ,.", at), text.size());
    if (end == at) continue;
    const std::string word = text.substr(at, end - at);
    result.words.push_back({{std::int64_t(at), std::int64_t(end)}, word, dictionary().at(word)});
    at = end;
  }
  const auto number_of = [&](const Span& span) {
    const auto place = std::ranges::find(result.words, span, &Place::span);
    if (place == result.words.end()) throw std::out_of_range("a span of no word");
    const auto number = place - result.words.begin();
    return Span{number, number + 1};
  };
  for (const Relation& relation : sentence.relations)
    result.relations.push_back(
        {relation.kind, number_of(relation.dependent), number_of(relation.governor)});
  return result;
}

GrammarSentence sentence_number(std::uint32_t item, double distractors = 0.6) {
  return draw_sentence(RandomStream(11, Purpose::synthetic_data, 0, item), distractors);
}

void check(const Read& sentence) {
  const auto& words = sentence.words;
  const auto at = [&](const Span& span) -> const Word& {
    return words[std::size_t(span.first)].word;
  };
  std::map<std::pair<RelationKind, std::int64_t>, int> by_dependent, by_governor;
  for (const auto& [kind, dependent, governor] : sentence.relations) {
    ++by_dependent[{kind, dependent.first}];
    ++by_governor[{kind, governor.first}];
    const Word &of = at(dependent), &to = at(governor);
    switch (kind) {
      case RelationKind::subject_verb:
        RC_ASSERT(of.kind == Kind::noun || of.kind == Kind::pronoun);
        RC_ASSERT(to.is_verb());
        RC_ASSERT(of.number == to.number);
        RC_ASSERT(dependent.first < governor.first);
        break;
      case RelationKind::verb_object:
        RC_ASSERT(of.kind == Kind::noun || of.kind == Kind::pronoun);
        RC_ASSERT(to.kind == Kind::transitive);
        break;
      case RelationKind::adjective_noun:
        RC_ASSERT(of.kind == Kind::adjective && to.kind == Kind::noun);
        break;
      case RelationKind::adverb_verb:
        RC_ASSERT(of.kind == Kind::adverb && to.is_verb());
        break;
      case RelationKind::pronoun_antecedent: {
        RC_ASSERT(of.kind == Kind::pronoun && to.kind == Kind::noun);
        RC_ASSERT(governor.first < dependent.first);
        // Of all nouns before it, the antecedent alone.
        for (std::int64_t i = 0; i < dependent.first; ++i) {
          const Word& other = words[std::size_t(i)].word;
          if (other.kind == Kind::noun) RC_ASSERT(of.may_stand_for(other) == (i == governor.first));
        }
        break;
      }
      case RelationKind::query_answer:
        RC_FAIL("no relation between words");
    }
  }
  for (std::int64_t i = 0; i < std::ssize(words); ++i) {
    const Kind kind = words[std::size_t(i)].word.kind;
    const auto verb = kind == Kind::transitive || kind == Kind::intransitive;
    RC_ASSERT((by_governor[{RelationKind::subject_verb, i}] == verb));
    RC_ASSERT((by_governor[{RelationKind::verb_object, i}] == (kind == Kind::transitive)));
    RC_ASSERT((by_dependent[{RelationKind::adjective_noun, i}] == (kind == Kind::adjective)));
    RC_ASSERT((by_dependent[{RelationKind::adverb_verb, i}] == (kind == Kind::adverb)));
    RC_ASSERT((by_dependent[{RelationKind::pronoun_antecedent, i}] == (kind == Kind::pronoun)));
  }
}

// With words and punctuation for tokens, as the word tokenizer has it.
Example as_example(const GrammarSentence& sentence) {
  Example example;
  std::vector<std::int32_t> characters;
  std::int32_t length = 0;
  for (const char c : sentence.text) {
    if (c == ',' || c == '.' || c == ' ') {
      if (length > 0) characters.push_back(length);
      length = 0;
    }
    if (c == ',' || c == '.')
      characters.push_back(1);
    else
      ++length;
  }
  example.input.assign(characters.size(), 0);
  example.relations = relations_of_tokens(sentence.relations, characters);
  return example;
}

}  // namespace

TEST_CASE("verbs agree with their subjects, and pronouns have one antecedent") {
  REQUIRE(rc::check("any seed", [] {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto distractors = *rc::gen::inRange(0, 11) / 10.0;
    for (std::uint32_t item = 0; item < 50; ++item) {
      const auto sentence = draw_sentence({seed, Purpose::synthetic_data, 0, item}, distractors);
      RC_ASSERT(sentence.text.ends_with('.'));
      check(read(sentence));
    }
  }));
}

TEST_CASE("the same numbers give the same sentence, on any machine") {
  using enum RelationKind;
  const auto first = sentence_number(0);
  CHECK(first.text == "some bridges smile never while the horse shines.");
  CHECK(first.relations == std::vector<Relation>{{subject_verb, {5, 12}, {13, 18}},
                                                 {adverb_verb, {19, 24}, {13, 18}},
                                                 {subject_verb, {35, 40}, {41, 47}}});
  const auto other = sentence_number(23);
  CHECK(other.text ==
        "kidely, the old voranic guvons meet one temple rudun before they see the bridge.");
  CHECK(other.relations == std::vector<Relation>{{adjective_noun, {12, 15}, {24, 30}},
                                                 {adjective_noun, {16, 23}, {24, 30}},
                                                 {subject_verb, {24, 30}, {31, 35}},
                                                 {verb_object, {47, 52}, {31, 35}},
                                                 {adverb_verb, {0, 6}, {31, 35}},
                                                 {pronoun_antecedent, {60, 64}, {24, 30}},
                                                 {subject_verb, {60, 64}, {65, 68}},
                                                 {verb_object, {73, 79}, {65, 68}}});
}

TEST_CASE("no fixed offset finds more than 60 percent of a relation, either way") {
  std::vector<Example> examples;
  for (std::uint32_t item = 0; item < 20'000; ++item)
    examples.push_back(as_example(sentence_number(item)));
  const auto guesses = best_offsets(examples);
  CHECK(guesses.size() == 5);
  for (const OffsetGuess& guess : guesses) {
    CAPTURE(name_of(guess.kind), guess.relations, guess.to_governor, guess.found_to_governor);
    CHECK(guess.relations > 5'000);
    CHECK(double(guess.found_to_governor) <= 0.6 * double(guess.relations));
    CHECK(double(guess.found_to_dependent) <= 0.6 * double(guess.relations));
  }
}

TEST_CASE("nouns of the other number often stand between a subject and its verb") {
  int main_verbs = 0, misled = 0;
  for (std::uint32_t item = 0; item < 5'000; ++item) {
    const Read sentence = read(sentence_number(item));
    for (const auto& [kind, dependent, governor] : sentence.relations) {
      if (kind != RelationKind::subject_verb) continue;
      ++main_verbs;
      const auto number = sentence.words[std::size_t(governor.first)].word.number;
      // The nearest noun before the verb.
      for (auto i = governor.first - 1; i > dependent.first; --i)
        if (const Word& word = sentence.words[std::size_t(i)].word; word.kind == Kind::noun) {
          misled += word.number != number;
          break;
        }
    }
  }
  CHECK(misled > main_verbs / 10);
}

TEST_CASE("without distractors a subject stands before its verb, with them behind an attachment") {
  for (const bool distractors : {false, true})
    for (std::uint32_t item = 0; item < 500; ++item) {
      const Read sentence = read(sentence_number(item, distractors));
      const auto& words = sentence.words;
      const auto subject =
          std::ranges::find(words, Kind::noun, [](const Place& place) { return place.word.kind; });
      REQUIRE(words.end() - subject > 1);
      const Place& next = *(subject + 1);
      CAPTURE(subject->text, next.text);
      if (distractors)
        CHECK((next.text == "that" || std::ranges::count(lexicon().prepositions, next.text) == 1));
      else
        CHECK((next.word.is_verb() ||
               (next.word.kind == Kind::adverb && (subject + 2)->word.is_verb())));
    }
}

TEST_CASE("frequencies of nouns fall as 1 over rank") {
  const auto& nouns = lexicon().nouns.words();
  std::map<std::string, std::size_t> rank_of;
  for (std::size_t i = 0; i < nouns.size(); ++i)
    rank_of[nouns[i].forms.singular] = rank_of[nouns[i].forms.plural] = i;
  std::vector<double> counts(nouns.size());
  for (std::uint32_t item = 0; item < 40'000; ++item)
    for (const Place& place : read(sentence_number(item)).words)
      if (place.word.kind == Kind::noun) ++counts[rank_of.at(place.text)];
  // The slope of log count over log rank, over ranks that are counted well.
  double n = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (std::size_t i = 0; i < 200; ++i) {
    const double x = std::log(double(i + 1)), y = std::log(counts[i]);
    n += 1;
    sum_x += x;
    sum_y += y;
    sum_xx += x * x;
    sum_xy += x * y;
  }
  const double exponent = -(n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
  CHECK(std::abs(exponent - 1) < 0.05);
  CHECK(std::ranges::count(counts, 0.0) < 5);
}
