#include "task/grammar.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "task/lexicon.hpp"

namespace headcount {
namespace {

// How likely each construction is. With these no fixed offset finds more than 60 % of any relation.
constexpr double kBarePlural = 0.2;                 // of plural nouns: no determiner
constexpr std::array kAdjectives{0.45, 0.27, 0.2};  // 0, 1 or 2 of them; else 3
constexpr double kModifier = 0.2;
constexpr double kPrepositional = 0.4;    // of attachments; the others are clauses
constexpr double kSubjectRelative = 0.5;  // of those: the noun is the verb's subject
constexpr double kAttachmentOfObject = 0.2;
constexpr double kTransitive = 0.7;
constexpr double kPhraseOfIntransitive = 0.3;
constexpr double kNoAdverb = 0.5;                                 // of clauses
constexpr double kOpeningAdverb = 0.1, kAdverbBeforeVerb = 0.18;  // else it closes the clause
constexpr double kAdverbOfRelative = 0.2;
constexpr double kSecondClause = 0.6;
constexpr double kPronoun = 0.8;           // of second clauses
constexpr double kPronounIsSubject = 0.6;  // else it is the object

using enum GrammaticalNumber;

enum class PronounKind { he, she, it, they };  // the first three as Gender has them
constexpr std::array<std::string_view, 4> kSubjectForms{"he", "she", "it", "they"};
constexpr std::array<std::string_view, 4> kObjectForms{"him", "her", "it", "them"};

enum class AdverbPlace { none, opening, before_verb, closing };

// A word of the sentence that can be the subject or object of a verb.
struct Mention {
  std::size_t word = 0;  // its number
  GrammaticalNumber number = singular;
  Gender gender = Gender::neuter;

  PronounKind pronoun() const {
    return number == plural ? PronounKind::they : static_cast<PronounKind>(gender);
  }
  std::string_view pronoun_form(const std::array<std::string_view, 4>& forms) const {
    return forms[static_cast<std::size_t>(pronoun())];
  }
};

class SentenceWriter {
 public:
  SentenceWriter(const RandomStream& random, double distractors)
      : random_(random), distractors_(distractors) {}

  GrammarSentence write() {
    first_clause();
    if (chance(kSecondClause)) second_clause();
    words_.back().mark = ".";
    return sentence();
  }

 private:
  struct Written {
    std::string_view word;
    std::string_view mark = "";  // punctuation behind it
  };
  struct Link {
    RelationKind kind;
    std::size_t dependent, governor;
  };

  bool chance(double probability) { return random_.uniform() < probability; }

  template <class Word>
  const Word& any_of(const std::vector<Word>& words) {
    return words[random_.below(static_cast<std::uint32_t>(words.size()))];
  }

  std::size_t add(std::string_view word) {
    words_.push_back({word});
    return words_.size() - 1;
  }

  void relate(std::size_t dependent, RelationKind kind, std::size_t governor) {
    links_.push_back({kind, dependent, governor});
  }

  std::size_t adverb() { return add(lexicon().adverbs.draw(random_)); }

  std::size_t verb_of(const Mention& subject, bool transitive) {
    const auto& verbs = transitive ? lexicon().transitive_verbs : lexicon().intransitive_verbs;
    const std::size_t verb = add(verbs.draw(random_).form(subject.number));
    relate(subject.word, RelationKind::subject_verb, verb);
    return verb;
  }

  std::size_t adjective_count() {
    double place = random_.uniform();
    std::size_t count = 0;
    while (count < kAdjectives.size() && place >= kAdjectives[count]) place -= kAdjectives[count++];
    return count;
  }

  Mention noun_phrase() {
    const GrammaticalNumber number = random_.below(2) == 0 ? singular : plural;
    if (number == singular || !chance(kBarePlural)) add(any_of(lexicon().determiners).form(number));
    const std::size_t first_adjective = words_.size(), adjectives = adjective_count();
    for (std::size_t i = 0; i < adjectives; ++i) add(lexicon().adjectives.draw(random_));
    if (chance(kModifier)) add(any_of(lexicon().modifiers));
    const Noun& noun = lexicon().nouns.draw(random_);
    const Mention mention{add(noun.forms.form(number)), number, noun.gender};
    for (std::size_t i = 0; i < adjectives; ++i)
      relate(first_adjective + i, RelationKind::adjective_noun, mention.word);
    mentions_.push_back(mention);
    return mention;
  }

  void prepositional_phrase() {
    add(any_of(lexicon().prepositions));
    noun_phrase();
  }

  void relative_clause(const Mention& noun) {
    add("that");
    const bool noun_is_subject = chance(kSubjectRelative);
    const Mention subject = noun_is_subject ? noun : noun_phrase();
    const bool transitive = !noun_is_subject || chance(kTransitive);
    // Before the verb only: behind it, an adverb could belong to the next verb.
    const bool with_adverb = chance(kAdverbOfRelative);
    const std::size_t adverb_word = with_adverb ? adverb() : 0;
    const std::size_t verb = verb_of(subject, transitive);
    if (with_adverb) relate(adverb_word, RelationKind::adverb_verb, verb);
    if (transitive)
      relate(noun_is_subject ? noun_phrase().word : noun.word, RelationKind::verb_object, verb);
  }

  void attachment(const Mention& noun) {
    if (chance(kPrepositional))
      prepositional_phrase();
    else
      relative_clause(noun);
  }

  Mention subject() {
    const Mention noun = noun_phrase();
    if (chance(distractors_)) attachment(noun);
    return noun;
  }

  AdverbPlace adverb_place() {
    const double place = random_.uniform();
    if (place < kNoAdverb) return AdverbPlace::none;
    if (place < kNoAdverb + kOpeningAdverb) return AdverbPlace::opening;
    return place < kNoAdverb + kOpeningAdverb + kAdverbBeforeVerb ? AdverbPlace::before_verb
                                                                  : AdverbPlace::closing;
  }

  // The verb and what follows. With an antecedent, a pronoun for it is the object.
  std::size_t predicate(const Mention& subject, AdverbPlace place,
                        const std::optional<Mention>& antecedent) {
    std::optional<std::size_t> adverb_word;
    if (place == AdverbPlace::before_verb) adverb_word = adverb();
    const bool transitive = antecedent || chance(kTransitive);
    const std::size_t verb = verb_of(subject, transitive);
    if (antecedent) {
      relate(pronoun_for(*antecedent, kObjectForms), RelationKind::verb_object, verb);
    } else if (transitive) {
      const Mention object = noun_phrase();
      relate(object.word, RelationKind::verb_object, verb);
      // A closing adverb could belong to a clause before it.
      if (place != AdverbPlace::closing && chance(kAttachmentOfObject)) attachment(object);
    } else if (chance(kPhraseOfIntransitive)) {
      prepositional_phrase();
    }
    if (place == AdverbPlace::closing) adverb_word = adverb();
    if (adverb_word) relate(*adverb_word, RelationKind::adverb_verb, verb);
    return verb;
  }

  void first_clause() {
    const AdverbPlace place = adverb_place();
    if (place != AdverbPlace::opening) {
      predicate(subject(), place, std::nullopt);
      return;
    }
    const std::size_t opening = adverb();
    words_.back().mark = ",";
    const std::size_t verb = predicate(subject(), AdverbPlace::none, std::nullopt);
    relate(opening, RelationKind::adverb_verb, verb);
  }

  // One of the first clause's nouns that no other noun so far shares its pronoun with.
  std::optional<Mention> antecedent_among(const std::vector<Mention>& first_clause) {
    std::vector<Mention> single;
    for (const Mention& noun : first_clause)
      if (std::ranges::count(mentions_, noun.pronoun(), &Mention::pronoun) == 1)
        single.push_back(noun);
    if (single.empty()) return std::nullopt;
    return any_of(single);
  }

  std::size_t pronoun_for(const Mention& antecedent, const std::array<std::string_view, 4>& forms) {
    const std::size_t pronoun = add(antecedent.pronoun_form(forms));
    relate(pronoun, RelationKind::pronoun_antecedent, antecedent.word);
    return pronoun;
  }

  void second_clause() {
    const std::vector<Mention> before = mentions_;
    AdverbPlace place = adverb_place();
    if (place == AdverbPlace::opening) place = AdverbPlace::closing;
    const bool with_pronoun = chance(kPronoun), is_subject = chance(kPronounIsSubject);
    add(any_of(lexicon().conjunctions));
    if (with_pronoun && is_subject)
      if (const auto antecedent = antecedent_among(before)) {
        Mention pronoun = *antecedent;
        pronoun.word = pronoun_for(*antecedent, kSubjectForms);
        predicate(pronoun, place, std::nullopt);
        return;
      }
    const Mention noun = subject();
    predicate(noun, place, with_pronoun && !is_subject ? antecedent_among(before) : std::nullopt);
  }

  GrammarSentence sentence() const {
    GrammarSentence result;
    std::vector<Span> spans;
    for (const auto& [word, mark] : words_) {
      if (!result.text.empty()) result.text += ' ';
      const std::int64_t first = std::ssize(result.text);
      result.text += word;
      spans.push_back({first, std::ssize(result.text)});
      result.text += mark;
    }
    for (const auto& [kind, dependent, governor] : links_)
      result.relations.push_back({kind, spans[dependent], spans[governor]});
    return result;
  }

  RandomStream random_;
  double distractors_;
  std::vector<Written> words_;
  std::vector<Link> links_;
  std::vector<Mention> mentions_;  // nouns so far
};

}  // namespace

GrammarSentence draw_sentence(const RandomStream& random, double distractors) {
  return SentenceWriter(random, distractors).write();
}

}  // namespace headcount
