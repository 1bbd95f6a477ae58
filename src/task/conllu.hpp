#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "task/relation.hpp"

namespace headcount {

// A sentence of a parsed corpus in the CoNLL-U format (universaldependencies.org/format).
struct ConlluSentence {
  // A syntactic word.
  struct Word {
    Span place;               // in the sentence's text, in code points
    std::string_view upos;    // its part of speech
    std::int64_t head = 0;    // the number of its governor, from 1; 0: none
    std::string_view deprel;  // how it hangs on it
  };

  std::string id;               // "" without a comment sent_id
  bool opens_document = false;  // by a comment newdoc
  std::string document;         // its id, if one is told
  std::string text;             // forms with blanks between them, but for SpaceAfter=No
  std::vector<Word> words;
};

// All sentences of a file; words refer to its text, which must outlive them. Words that share a
// surface token ("1-2") stand at the place of the whole token; empty nodes ("1.1") are checked and
// left out. Heads form a tree, or several. Throws Error (bad_data) naming file and line for
// whatever the format does not allow.
std::vector<ConlluSentence> read_conllu(std::string_view text, const std::string& file);

// The relations that the parse of a sentence shows, after Universal Dependencies; subtypes
// (nsubj:pass) count. Subjects, objects and adverbs are those of words that are verbs (VERB),
// adverbs are ADV, adjectives ADJ, nouns NOUN or PROPN. Not pronoun-antecedent: that is no relation
// of a parse. Left out where both words share a surface token.
std::vector<Relation> relations_of_parse(const ConlluSentence& sentence);

}  // namespace headcount
