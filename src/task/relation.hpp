#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace headcount {

struct Example;

// Relations between two words of an example that a parsed corpus or a grammar states as gold. Each
// is named for what it leads from and to: an object hangs on its verb, an adjective on its noun.
// In made-up sequences, query-answer leads from where something is asked to where its answer
// stands.
enum class RelationKind {
  subject_verb,
  verb_object,
  adjective_noun,
  adverb_verb,
  pronoun_antecedent,
  query_answer
};
const std::vector<RelationKind>& relation_kinds();
std::string_view name_of(RelationKind kind);              // "subject-verb"
RelationKind parse_relation_kind(std::string_view text);  // throws Error (bad_data)

// Tokens first .. end-1 of an example's input, or code points of a document's text: one word. Never
// empty.
struct Span {
  std::int64_t first = 0, end = 0;
  bool operator==(const Span&) const = default;
};

// The dependent is the subject, object, adjective, adverb, pronoun or query; its governor is the
// verb, the noun, the antecedent or the answer. Their spans do not overlap.
struct Relation {
  RelationKind kind = RelationKind::subject_verb;
  Span dependent, governor;
  bool operator==(const Relation&) const = default;
};

// How well a fixed offset finds one word of a relation from the other: the baseline of Voita et al.
// 2019, section 5.2. It looks from the last token of a word, and finds the other word when the
// token so many places on (behind where the offset is positive) belongs to it.
struct OffsetGuess {
  RelationKind kind = RelationKind::subject_verb;
  std::int64_t relations = 0;
  std::int64_t to_governor = 0, to_dependent = 0;              // the most frequent offset
  std::int64_t found_to_governor = 0, found_to_dependent = 0;  // relations that it finds
  bool operator==(const OffsetGuess&) const = default;
};

// The best guess of each kind that occurs, in the order of kinds; among equals the shortest offset,
// then the one to the left.
std::vector<OffsetGuess> best_offsets(const std::vector<Example>& examples);

// The same offsets tried on other examples, since one is chosen on one split and reported on
// another.
std::vector<OffsetGuess> try_offsets(std::vector<OffsetGuess> chosen,
                                     const std::vector<Example>& examples);

// The relations that lie wholly in `part`, counted from its beginning.
std::vector<Relation> relations_within(const std::vector<Relation>& relations, const Span& part);

// Relations between words of a text as relations between its tokens: a word is the tokens that
// share a code point with it. Left out where both words share a token. `characters` are the code
// points that each token stands for, as a tokenizer tells them; a token of none (a byte inside a
// code point) belongs to the one before it.
std::vector<Relation> relations_of_tokens(const std::vector<Relation>& relations_of_text,
                                          const std::vector<std::int32_t>& characters);

}  // namespace headcount
