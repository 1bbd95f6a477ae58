#include "task/relation.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <tuple>

#include "base/enumeration.hpp"
#include "task/task.hpp"

namespace headcount {
namespace {

constexpr auto kKinds =
    enumeration<RelationKind>("relation", "subject-verb", "verb-object", "adjective-noun",
                              "adverb-verb", "pronoun-antecedent", "query-answer");

// Whether `offset` places on from the last token of one word is a token of the other.
bool finds(std::int64_t offset, const Span& from, const Span& to) {
  const std::int64_t token = from.end - 1 + offset;
  return to.first <= token && token < to.end;
}

// Counts how many relations each offset finds. A word is found by a run of offsets; only the ends
// of runs are kept.
class OffsetCounts {
 public:
  void add(const Span& from, const Span& to) {
    const std::int64_t last = from.end - 1;
    ++change_[to.first - last];
    --change_[to.end - last];
  }

  struct Best {
    std::int64_t offset = 0, found = 0;
  };
  Best best() const {
    Best best;
    std::int64_t found = 0;
    const auto rank = [](const Best& b) {
      return std::tuple(b.found, -std::abs(b.offset), -b.offset);
    };
    for (auto at = change_.begin(); at != change_.end(); ++at) {
      found += at->second;
      if (found == 0) continue;
      // All offsets up to the next change find as many: the shortest of them counts.
      const std::int64_t last = std::next(at)->first - 1;
      const Best here{std::clamp<std::int64_t>(0, at->first, last), found};
      if (best.found == 0 || rank(here) > rank(best)) best = here;
    }
    return best;
  }

 private:
  std::map<std::int64_t, std::int64_t> change_;
};

}  // namespace

const std::vector<RelationKind>& relation_kinds() {
  static const std::vector<RelationKind> kinds{
      RelationKind::subject_verb, RelationKind::verb_object,        RelationKind::adjective_noun,
      RelationKind::adverb_verb,  RelationKind::pronoun_antecedent, RelationKind::query_answer};
  return kinds;
}

std::string_view name_of(RelationKind kind) { return kKinds.name(kind); }
RelationKind parse_relation_kind(std::string_view text) { return kKinds.parse(text); }

std::vector<OffsetGuess> best_offsets(const std::vector<Example>& examples) {
  struct Counts {
    std::int64_t relations = 0;
    OffsetCounts to_governor, to_dependent;
  };
  std::map<RelationKind, Counts> counts;
  for (const Example& example : examples)
    for (const Relation& relation : example.relations) {
      Counts& of_kind = counts[relation.kind];
      ++of_kind.relations;
      of_kind.to_governor.add(relation.dependent, relation.governor);
      of_kind.to_dependent.add(relation.governor, relation.dependent);
    }
  std::vector<OffsetGuess> guesses;
  for (const auto& [kind, of_kind] : counts) {
    const auto up = of_kind.to_governor.best(), down = of_kind.to_dependent.best();
    guesses.push_back({kind, of_kind.relations, up.offset, down.offset, up.found, down.found});
  }
  return guesses;
}

std::vector<OffsetGuess> try_offsets(std::vector<OffsetGuess> chosen,
                                     const std::vector<Example>& examples) {
  for (OffsetGuess& guess : chosen) {
    guess.relations = guess.found_to_governor = guess.found_to_dependent = 0;
    for (const Example& example : examples)
      for (const auto& [kind, dependent, governor] : example.relations) {
        if (kind != guess.kind) continue;
        ++guess.relations;
        guess.found_to_governor += finds(guess.to_governor, dependent, governor);
        guess.found_to_dependent += finds(guess.to_dependent, governor, dependent);
      }
  }
  return chosen;
}

std::vector<Relation> relations_within(const std::vector<Relation>& relations, const Span& part) {
  const auto inside = [&](const Span& word) {
    return part.first <= word.first && word.end <= part.end;
  };
  const auto moved = [&](const Span& word) {
    return Span{word.first - part.first, word.end - part.first};
  };
  std::vector<Relation> within;
  for (const auto& [kind, dependent, governor] : relations)
    if (inside(dependent) && inside(governor))
      within.push_back({kind, moved(dependent), moved(governor)});
  return within;
}

std::vector<Relation> relations_of_tokens(const std::vector<Relation>& relations_of_text,
                                          const std::vector<std::int32_t>& characters) {
  if (relations_of_text.empty()) return {};
  std::vector<std::int64_t> first, end;  // code points of each token; both ascend
  std::int64_t at = 0;
  for (const std::int32_t count : characters) {
    first.push_back(count == 0 ? std::max<std::int64_t>(at - 1, 0) : at);
    end.push_back(at += count);
  }
  const auto tokens_of = [&](const Span& word) {
    return Span{std::ranges::upper_bound(end, word.first) - end.begin(),
                std::ranges::lower_bound(first, word.end) - first.begin()};
  };
  std::vector<Relation> relations;
  for (const auto& [kind, dependent, governor] : relations_of_text) {
    const Span from = tokens_of(dependent), to = tokens_of(governor);
    const bool apart = from.end <= to.first || to.end <= from.first;
    if (from.first < from.end && to.first < to.end && apart) relations.push_back({kind, from, to});
  }
  return relations;
}

}  // namespace headcount
