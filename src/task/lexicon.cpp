#include "task/lexicon.hpp"

#include <array>
#include <span>
#include <string_view>

namespace headcount {
namespace {

// All take an s in the plural.
constexpr std::array<std::array<std::string_view, 13>, 3> kNounsByGender{{
    {"king", "boy", "uncle", "brother", "father", "prince", "monk", "waiter", "lord", "nephew",
     "gardener", "tailor", "miller"},
    {"girl", "queen", "sister", "aunt", "mother", "widow", "daughter", "niece", "maid", "nurse",
     "singer", "dancer", "grandmother"},
    {"dog", "horse", "house", "river", "garden", "letter", "bird", "tower", "ship", "bridge",
     "window", "forest", "lantern"},
}};

// All take an s in the third person singular.
constexpr auto kTransitive = std::to_array<std::string_view>(
    {"see",    "follow",   "help",    "love",    "find",    "know",  "remember",
     "greet",  "hear",     "admire",  "need",    "visit",   "avoid", "praise",
     "trust",  "like",     "meet",    "forget",  "protect", "call",  "describe",
     "ignore", "surprise", "mention", "welcome", "thank"});
constexpr auto kIntransitive = std::to_array<std::string_view>(
    {"sleep", "wait", "smile", "sing", "fall", "arrive", "rest", "wander", "appear", "remain",
     "shine", "weep", "tremble", "laugh", "return", "stumble"});

constexpr auto kAdjective = std::to_array<std::string_view>(
    {"old",     "young",  "small", "tall",  "quiet",  "bright", "large",  "brave",
     "strange", "clever", "proud", "red",   "gentle", "heavy",  "green",  "cold",
     "famous",  "white",  "tired", "happy", "warm",   "black",  "silent", "ancient",
     "narrow",  "lonely", "angry", "blue",  "wooden", "polite"});
constexpr auto kAdverb = std::to_array<std::string_view>(
    {"often", "never", "quickly", "slowly", "sometimes", "quietly", "always", "rarely", "gently",
     "suddenly", "calmly", "loudly", "eagerly", "seldom", "proudly", "softly", "gladly",
     "clearly"});

// Stem number `index` of 4,900 that are all different.
std::string invented_stem(std::size_t index) {
  constexpr std::string_view kConsonants = "bdfgklmnprstvz", kVowels = "aeiou";
  constexpr std::size_t kSyllables = kConsonants.size() * kVowels.size();
  // A step that has no factor in common with the number of stems meets each of them once.
  const std::size_t place = (index * 2741 + 97) % (kSyllables * kSyllables);
  std::string stem;
  for (const std::size_t syllable : {place / kSyllables, place % kSyllables}) {
    stem += kConsonants[syllable / kVowels.size()];
    stem += kVowels[syllable % kVowels.size()];
  }
  return stem;
}

// English words and then invented ones.
class WordMaker {
 public:
  std::string invent(std::string_view ending) {
    return invented_stem(next_stem_++) + std::string(ending);
  }

  std::vector<std::string> words(std::span<const std::string_view> english, std::size_t count,
                                 std::string_view ending) {
    std::vector<std::string> words(english.begin(), english.end());
    while (words.size() < count) words.push_back(invent(ending));
    return words;
  }

  std::vector<Inflected> verbs(std::span<const std::string_view> english, std::size_t count) {
    std::vector<Inflected> verbs;
    for (const auto& stem : words(english, count, "d")) verbs.push_back({stem + "s", stem});
    return verbs;
  }

  // Genders by turns.
  std::vector<Noun> nouns(std::size_t count) {
    std::vector<Noun> nouns;
    for (std::size_t rank = 0; rank < count; ++rank) {
      const auto& english = kNounsByGender[rank % 3];
      const std::string stem =
          rank / 3 < english.size() ? std::string(english[rank / 3]) : invent("n");
      nouns.push_back({{stem, stem + "s"}, static_cast<Gender>(rank % 3)});
    }
    return nouns;
  }

 private:
  std::size_t next_stem_ = 0;
};

Lexicon make_lexicon() {
  WordMaker make;
  return {
      .nouns = OpenClass(make.nouns(500)),
      .transitive_verbs = OpenClass(make.verbs(kTransitive, 140)),
      .intransitive_verbs = OpenClass(make.verbs(kIntransitive, 70)),
      .adjectives = OpenClass(make.words(kAdjective, 240, "nic")),
      .adverbs = OpenClass(make.words(kAdverb, 80, "ly")),
      .determiners = {{"the", "the"}, {"this", "these"}, {"every", "many"}, {"one", "some"}},
      .modifiers = {"stone", "village", "silver", "winter", "palace", "iron", "country", "mountain",
                    "glass", "summer", "harbour", "temple"},
      .prepositions = {"near", "behind", "with", "beside", "under", "beyond", "without", "above"},
      .conjunctions = {"because", "when", "while", "although", "after", "before", "until"},
  };
}

}  // namespace

const Lexicon& lexicon() {
  static const Lexicon words = make_lexicon();
  return words;
}

}  // namespace headcount
