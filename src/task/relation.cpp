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
                              "adverb-verb", "pronoun-antecedent");

// Counts how many relations each offset finds. A word is found by a run of offsets; only the ends
// of runs are kept.
class OffsetCounts {
 public:
  void add(const TokenSpan& from, const TokenSpan& to) {
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
      RelationKind::subject_verb, RelationKind::verb_object, RelationKind::adjective_noun,
      RelationKind::adverb_verb, RelationKind::pronoun_antecedent};
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

}  // namespace headcount
