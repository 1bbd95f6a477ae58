#pragma once

#include <string>
#include <vector>

#include "math/random.hpp"
#include "task/relation.hpp"

namespace headcount {

// A probabilistic grammar of English-like sentences, our own, whose relations are known:
//
//   sentence    [adverb ,] clause [conjunction clause] .
//   clause      noun phrase [attachment] predicate
//   predicate   [adverb] verb [object] [prepositional phrase] [adverb]
//   noun phrase determiner {adjective} [modifier] noun          or a pronoun
//   attachment  preposition noun phrase
//             | that [adverb] verb [noun phrase]                the noun is the verb's subject
//             | that noun phrase [adverb] verb                  the noun is the verb's object
//
// Verbs agree in number with their subjects, across attachments, whose nouns have numbers of their
// own. A pronoun is the subject or the object of the second clause; its antecedent is the one noun
// before it of its gender and number (they, them: of any gender), and stands in the first clause.
// Words of an open class have frequencies in proportion to 1 / rank (lexicon.hpp).
//
// Relations: subject-verb, also of the noun that a relative clause hangs on; verb-object;
// adjective-noun; adverb-verb; pronoun-antecedent.
struct GrammarSentence {
  std::string text;                 // ASCII, lower case
  std::vector<Relation> relations;  // in code points of the text
};

// `distractors`: how likely an attachment stands between the subject of a clause and its verb.
GrammarSentence draw_sentence(const RandomStream& random, double distractors);

}  // namespace headcount
