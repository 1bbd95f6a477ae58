#include "task/lexicon.hpp"

#include <cmath>
#include <map>
#include <set>

#include "catch.hpp"

using namespace headcount;

TEST_CASE("no form stands for two words") {
  std::set<std::string> forms{"he", "she", "it", "they", "him", "her", "them", "that"};
  std::size_t count = forms.size();
  const auto add = [&](const std::string& form) {
    CAPTURE(form);
    CHECK(forms.insert(form).second);
    CHECK(form.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos);
    ++count;
  };
  const auto add_both = [&](const Inflected& word) {
    add(word.singular);
    add(word.plural);
  };
  const Lexicon& words = lexicon();
  for (const Noun& noun : words.nouns.words()) add_both(noun.forms);
  for (const auto* verbs : {&words.transitive_verbs, &words.intransitive_verbs})
    for (const Inflected& verb : verbs->words()) add_both(verb);
  for (const auto* list : {&words.adjectives.words(), &words.adverbs.words(), &words.modifiers,
                           &words.prepositions, &words.conjunctions})
    for (const auto& word : *list) add(word);
  for (const Inflected& determiner : words.determiners) {
    add(determiner.singular);
    if (determiner.plural != determiner.singular) add(determiner.plural);
  }
  CHECK(count > 1'500);
  CHECK(count < 2'000);
}

TEST_CASE("forms follow number, and genders stand by turns") {
  const auto& nouns = lexicon().nouns.words();
  CHECK(nouns[0].forms.form(GrammaticalNumber::singular) == "king");
  CHECK(nouns[2].forms.form(GrammaticalNumber::plural) == "dogs");
  CHECK(lexicon().transitive_verbs.words()[0].form(GrammaticalNumber::singular) == "sees");
  CHECK(lexicon().transitive_verbs.words()[0].form(GrammaticalNumber::plural) == "see");
  CHECK(nouns[3].gender == Gender::masculine);
  CHECK(nouns[4].gender == Gender::feminine);
  CHECK(nouns[499].gender == Gender::feminine);
}

TEST_CASE("a word of rank r is drawn in proportion to 1 / r") {
  const OpenClass<int> ranks({1, 2, 3, 4});  // 12/25, 6/25, 4/25, 3/25
  std::map<int, int> counts;
  RandomStream random(5, Purpose::synthetic_data, 0, 0);
  for (int i = 0; i < 25'000; ++i) ++counts[ranks.draw(random)];
  double chi_square = 0;
  for (const auto& [rank, expected] :
       std::map<int, double>{{1, 12e3}, {2, 6e3}, {3, 4e3}, {4, 3e3}})
    chi_square += std::pow(counts[rank] - expected, 2) / expected;
  CHECK(chi_square < 16.3);  // 0.999, 3 degrees of freedom
  CHECK(OpenClass<int>({7}).draw(random) == 7);
}
