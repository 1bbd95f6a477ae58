#include "task/relation.hpp"

#include <rapidcheck.h>

#include "base/error.hpp"
#include "catch.hpp"
#include "task/task.hpp"

using namespace headcount;
namespace {

using enum RelationKind;

Example example_with(std::vector<Relation> relations) {
  Example example;
  example.relations = std::move(relations);
  return example;
}

// Every offset tried on every relation.
std::int64_t found_by(std::int64_t offset, const std::vector<Relation>& relations) {
  std::int64_t found = 0;
  for (const auto& [kind, dependent, governor] : relations) {
    const std::int64_t token = dependent.end - 1 + offset;
    found += governor.first <= token && token < governor.end;
  }
  return found;
}

}  // namespace

TEST_CASE("relations have names") {
  CHECK(name_of(subject_verb) == "subject-verb");
  for (const auto kind : relation_kinds()) CHECK(parse_relation_kind(name_of(kind)) == kind);
  CHECK_THROWS_WITH(parse_relation_kind("verb-subject"), ContainsSubstring("known: subject-verb"));
}

TEST_CASE("the best fixed offset by hand") {
  const std::vector<Example> examples{
      // the dog barks | dogs often bark | the old dogs bark
      example_with({{subject_verb, {1, 2}, {2, 3}}}),
      example_with({{subject_verb, {0, 1}, {2, 3}}, {adverb_verb, {1, 2}, {2, 3}}}),
      example_with({{subject_verb, {2, 3}, {3, 4}}, {adjective_noun, {1, 2}, {2, 3}}})};
  const auto guesses = best_offsets(examples);
  REQUIRE(guesses.size() == 3);
  CHECK(guesses[0] == OffsetGuess{subject_verb, 3, 1, -1, 2, 2});
  CHECK(guesses[1] == OffsetGuess{adjective_noun, 1, 1, -1, 1, 1});
  CHECK(guesses[2] == OffsetGuess{adverb_verb, 1, 1, -1, 1, 1});
  CHECK(best_offsets({Example{}}).empty());
}

TEST_CASE("an offset looks from the last token of a word to any token of the other") {
  // Words of three tokens side by side: 1, 2 or 3 places on is the next word; 3, 4 or 5 back from
  // its last token is the one before. The shortest counts.
  const auto guesses = best_offsets({example_with({{verb_object, {3, 6}, {0, 3}}})});
  REQUIRE(guesses.size() == 1);
  CHECK(guesses[0] == OffsetGuess{verb_object, 1, -3, 1, 1, 1});
}

TEST_CASE("among equal offsets the shorter wins, then the one to the left") {
  const auto equal = best_offsets({example_with({{subject_verb, {5, 6}, {7, 8}},
                                                 {subject_verb, {5, 6}, {3, 4}},
                                                 {adverb_verb, {5, 6}, {8, 9}},
                                                 {adverb_verb, {5, 6}, {3, 4}}})});
  REQUIRE(equal.size() == 2);
  CHECK(equal[0].to_governor == -2);
  CHECK(equal[1].to_governor == -2);
}

TEST_CASE("no offset finds more than the best one") {
  REQUIRE(rc::check("best offset", [] {
    const auto count = *rc::gen::inRange(1, 20);
    std::vector<Relation> relations;
    for (int i = 0; i < count; ++i) {
      const auto at = *rc::gen::inRange(0, 12), size = *rc::gen::inRange(1, 4);
      const auto other = *rc::gen::inRange(0, 12), other_size = *rc::gen::inRange(1, 4);
      relations.push_back({subject_verb, {at, at + size}, {other, other + other_size}});
    }
    const auto best = best_offsets({example_with(relations)}).at(0);
    RC_ASSERT(best.relations == count);
    RC_ASSERT(found_by(best.to_governor, relations) == best.found_to_governor);
    for (std::int64_t offset = -20; offset <= 20; ++offset) {
      const auto found = found_by(offset, relations);
      RC_ASSERT(found <= best.found_to_governor);
      if (found == best.found_to_governor)
        RC_ASSERT(std::abs(offset) >= std::abs(best.to_governor));
    }
  }));
}

TEST_CASE("offsets chosen on one split are tried on another") {
  const auto chosen = best_offsets({example_with({{subject_verb, {1, 2}, {2, 3}}})});
  const std::vector<Example> others{
      example_with({{subject_verb, {0, 1}, {2, 3}}, {subject_verb, {4, 5}, {5, 7}}}),
      example_with({{subject_verb, {1, 2}, {0, 1}}, {adverb_verb, {1, 2}, {2, 3}}})};
  // One place on finds the second governor alone; one back, from its last token, finds nothing.
  CHECK(try_offsets(chosen, others) == std::vector<OffsetGuess>{{subject_verb, 3, 1, -1, 1, 0}});
  CHECK(try_offsets(chosen, {Example{}}) ==
        std::vector<OffsetGuess>{{subject_verb, 0, 1, -1, 0, 0}});
  CHECK(try_offsets(best_offsets(others), others) == best_offsets(others));
}

TEST_CASE("relations of a part are those wholly in it") {
  const std::vector<Relation> relations{{subject_verb, {1, 2}, {3, 5}},
                                        {verb_object, {6, 7}, {3, 5}}};
  CHECK(relations_within(relations, {1, 5}) ==
        std::vector<Relation>{{subject_verb, {0, 1}, {2, 4}}});
  CHECK(relations_within(relations, {2, 7}) ==
        std::vector<Relation>{{verb_object, {4, 5}, {1, 3}}});
  CHECK(relations_within(relations, {3, 6}).empty());
}

TEST_CASE("words become the tokens that share a code point with them") {
  // "Äs eat it": words at 0..2, 3..6, 7..9.
  const std::vector<Relation> relations{{subject_verb, {0, 2}, {3, 6}},
                                        {verb_object, {7, 9}, {3, 6}}};
  const auto of = [&](const std::vector<std::int32_t>& characters) {
    return relations_of_tokens(relations, characters);
  };
  CHECK(of(std::vector<std::int32_t>(9, 1)) == relations);  // characters
  // Bytes: Ä has two, the second stands for no code point of its own.
  CHECK(of({1, 0, 1, 1, 1, 1, 1, 1, 1, 1}) ==
        std::vector<Relation>{{subject_verb, {0, 3}, {4, 7}}, {verb_object, {8, 10}, {4, 7}}});
  // Words, each with the blank before it.
  CHECK(of({2, 4, 3}) ==
        std::vector<Relation>{{subject_verb, {0, 1}, {1, 2}}, {verb_object, {2, 3}, {1, 2}}});
  // Two words in one token have no relation that attention could show.
  CHECK(of({6, 3}) == std::vector<Relation>{{verb_object, {1, 2}, {0, 1}}});
  CHECK(of({}).empty());
}
