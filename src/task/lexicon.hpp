#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "math/random.hpp"

namespace headcount {

// The words of the grammar (grammar.hpp). Frequent ones are English; the long tail is invented: two
// syllables of a consonant and a vowel, and an ending.

enum class GrammaticalNumber { singular, plural };
enum class Gender { masculine, feminine, neuter };

// A word of two forms, chosen by number: dog, dogs; sees, see (third person, present).
struct Inflected {
  std::string singular, plural;
  const std::string& form(GrammaticalNumber number) const {
    return number == GrammaticalNumber::singular ? singular : plural;
  }
};

struct Noun {
  Inflected forms;
  Gender gender = Gender::neuter;
};

// Words of which the one of rank r is drawn with a probability in proportion to 1 / r (Zipf 1949).
template <class Word>
class OpenClass {
 public:
  explicit OpenClass(std::vector<Word> words) : words_(std::move(words)) {
    double sum = 0;
    for (std::size_t rank = 1; rank <= words_.size(); ++rank)
      sums_.push_back(sum += 1 / static_cast<double>(rank));
  }

  const std::vector<Word>& words() const { return words_; }  // in order of rank

  const Word& draw(RandomStream& random) const {
    // Never behind the last word, also where the product rounds up to the last sum.
    const auto place =
        std::upper_bound(sums_.begin(), sums_.end() - 1, random.uniform() * sums_.back());
    return words_[static_cast<std::size_t>(place - sums_.begin())];
  }

 private:
  std::vector<Word> words_;
  std::vector<double> sums_;  // of the weights up to each rank
};

// No form stands twice, within a class or in two; but determiners may be the same in both numbers.
struct Lexicon {
  OpenClass<Noun> nouns;
  OpenClass<Inflected> transitive_verbs, intransitive_verbs;
  OpenClass<std::string> adjectives, adverbs;

  std::vector<Inflected> determiners;
  std::vector<std::string> modifiers;  // stand before a noun without being its adjective: stone
  std::vector<std::string> prepositions, conjunctions;
};
const Lexicon& lexicon();

}  // namespace headcount
