#include "task/windows.hpp"

#include <map>
#include <numeric>

#include <rapidcheck.h>

#include "base/error.hpp"
#include "catch.hpp"

using namespace headcount;
namespace {

// Documents of these lengths whose tokens say where they are: 1000 * document + position.
std::vector<std::vector<Token>> documents_of(const std::vector<int>& lengths) {
  std::vector<std::vector<Token>> documents;
  for (const int length : lengths) {
    documents.emplace_back(static_cast<std::size_t>(length));
    std::iota(documents.back().begin(), documents.back().end(),
              static_cast<Token>(1000 * (documents.size() - 1)));
  }
  return documents;
}

std::vector<Token> first_tokens(const Batch& batch) {
  std::vector<Token> first;
  for (std::int64_t b = 0; b < batch.input.count(); ++b)
    first.push_back(batch.input.tokens[std::size_t(batch.input.offsets[std::size_t(b)])]);
  return first;
}

}  // namespace

TEST_CASE("windows lie inside documents and their targets follow") {
  REQUIRE(rc::check("training windows", [] {
    const auto lengths =
        *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40)));
    const auto block = *rc::gen::inRange<std::int64_t>(1, 30);
    const auto tokens = *rc::gen::inRange<std::int64_t>(1, 200);
    RC_PRE(std::ranges::any_of(lengths, [](int length) { return length >= 2; }));
    const TrainingWindows windows(documents_of(lengths), block);
    const Batch batch = windows.draw(*rc::gen::arbitrary<std::uint64_t>(), 3, tokens);
    RC_ASSERT(batch.input.count() >= 1);
    RC_ASSERT(batch.input.total() <= tokens || batch.input.count() == 1);
    RC_ASSERT(batch.input.longest() <= windows.longest());
    RC_ASSERT(batch.targets.size() == batch.input.tokens.size());
    for (std::int64_t b = 0; b < batch.input.count(); ++b) {
      const auto begin = std::size_t(batch.input.offsets[std::size_t(b)]);
      const Token first = batch.input.tokens[begin];
      const int document_length = lengths[std::size_t(first / 1000)];
      RC_ASSERT(batch.input.length(b) == std::min<std::int64_t>(block, document_length - 1));
      for (std::size_t i = 0; i < std::size_t(batch.input.length(b)); ++i) {
        RC_ASSERT(batch.input.tokens[begin + i] == first + Token(i));
        RC_ASSERT(batch.targets[begin + i] == first + Token(i) + 1);
      }
      RC_ASSERT(batch.targets[begin + std::size_t(batch.input.length(b)) - 1] % 1000 <
                document_length);
      RC_ASSERT(batch.examples[std::size_t(b)] == b);
    }
  }));
}

TEST_CASE("every window start is as likely") {
  // Starts with blocks of 4: six of the first document, one of the second, none of the third.
  const TrainingWindows windows(documents_of({10, 3, 1}), 4);
  CHECK(windows.count() == 7);
  CHECK(windows.longest() == 4);
  std::map<Token, int> counts;
  for (std::int64_t step = 0; step < 7000; ++step)
    ++counts[first_tokens(windows.draw(1, step, 1))[0]];
  CHECK(counts.size() == 7);
  double chi_square = 0;
  for (const auto& [start, count] : counts) chi_square += (count - 1e3) * (count - 1e3) / 1e3;
  CHECK(counts.contains(1000));
  CHECK(chi_square < 22.5);  // 0.999, 6 degrees of freedom
}

TEST_CASE("a batch depends on seed and step alone") {
  const TrainingWindows windows(documents_of({500, 300}), 8);
  const Batch batch = windows.draw(1, 5, 64);
  CHECK(batch.input.count() == 8);
  windows.draw(1, 6, 64);
  CHECK(windows.draw(1, 5, 64) == batch);
  CHECK(windows.draw(2, 5, 64) != batch);
  CHECK(windows.draw(1, 6, 64) != batch);
  const auto larger = first_tokens(windows.draw(1, 5, 128));  // the same windows, and more
  const auto starts = first_tokens(batch);
  CHECK(std::equal(starts.begin(), starts.end(), larger.begin()));
  CHECK_THROWS_AS(windows.draw(1, -1, 64), Error);
  CHECK_THROWS_AS(windows.draw(1, std::int64_t{1} << 32, 64), Error);
}

TEST_CASE("windows need something to predict") {
  CHECK_THROWS_WITH(TrainingWindows(documents_of({1, 0}), 4), ContainsSubstring("2 tokens"));
  CHECK_THROWS_WITH(TrainingWindows(documents_of({9}), 0), ContainsSubstring("task.block"));
}

TEST_CASE("held-out windows by hand") {
  const auto examples = held_out_windows({{10, 11, 12, 13, 14, 15}, {1, 2, 4, 8, 16, 32}}, 3, 7);
  REQUIRE(examples.size() == 2);
  CHECK(examples[0].input == std::vector<Token>{10, 11, 12});
  CHECK(examples[0].targets == std::vector<Token>{11, 12, 13});
  CHECK(examples[0].characters == 2 + 4 + 8);
  CHECK(examples[1].input == std::vector<Token>{13, 14});
  CHECK(examples[1].targets == std::vector<Token>{14, 15});
  CHECK(examples[1].characters == 16 + 32);
  CHECK(examples[1].cluster == 7);
  CHECK(held_out_windows({{1}, {1}}, 3, 0).empty());
  CHECK(held_out_windows({}, 3, 0).empty());
}

TEST_CASE("a window may have its own tokens as targets") {
  const TrainingWindows windows(documents_of({10, 3, 1}), 4, WindowTargets::own);
  CHECK(windows.count() == 7 + 1 + 1);
  CHECK(windows.longest() == 4);
  const Batch batch = windows.draw(1, 5, 64);
  CHECK(batch.targets == batch.input.tokens);
  for (const Token token : batch.input.tokens) CHECK(token % 1000 < 10);
  CHECK(TrainingWindows(documents_of({1}), 4, WindowTargets::own).count() == 1);
  CHECK_THROWS_WITH(TrainingWindows(documents_of({0}), 4, WindowTargets::own),
                    ContainsSubstring("of 1 token or more"));

  const auto examples =
      held_out_windows({{10, 11, 12, 13, 14}, {1, 2, 4, 8, 16}}, 3, 7, WindowTargets::own);
  REQUIRE(examples.size() == 2);
  CHECK(examples[0].input == std::vector<Token>{10, 11, 12});
  CHECK(examples[0].targets == examples[0].input);
  CHECK(examples[0].characters == 1 + 2 + 4);
  CHECK(examples[1].targets == std::vector<Token>{13, 14});
}

TEST_CASE("a held-out window keeps the relations that lie in it") {
  using enum RelationKind;
  const TokenizedText text{{0, 1, 2, 3, 4, 5, 6, 7}, std::vector<std::int32_t>(8, 1)};
  const std::vector<Relation> relations{{subject_verb, {1, 2}, {0, 1}},
                                        {verb_object, {4, 5}, {5, 6}},
                                        {adverb_verb, {2, 3}, {3, 4}},      // across windows
                                        {adjective_noun, {6, 7}, {7, 8}}};  // 7 is no input
  const auto examples = held_out_windows(text, 3, 0, WindowTargets::following, relations);
  REQUIRE(examples.size() == 3);
  CHECK(examples[0].relations == std::vector<Relation>{{subject_verb, {1, 2}, {0, 1}}});
  CHECK(examples[1].relations == std::vector<Relation>{{verb_object, {1, 2}, {2, 3}}});
  CHECK(examples[2].relations.empty());
  CHECK(held_out_windows(text, 8, 0, WindowTargets::own, relations)[0].relations == relations);
}

TEST_CASE("every token but the first is a held-out target once") {
  REQUIRE(rc::check("coverage", [] {
    const auto tokens = *rc::gen::container<std::vector<Token>>(rc::gen::inRange(0, 9));
    const auto block = *rc::gen::inRange<std::int64_t>(1, 12);
    std::vector<Token> inputs, targets;
    for (const Example& example :
         held_out_windows({tokens, std::vector<std::int32_t>(tokens.size(), 1)}, block, 0)) {
      RC_ASSERT(!example.input.empty() && std::ssize(example.input) <= block);
      RC_ASSERT(example.characters == std::ssize(example.targets));
      inputs.insert(inputs.end(), example.input.begin(), example.input.end());
      targets.insert(targets.end(), example.targets.begin(), example.targets.end());
    }
    if (tokens.size() < 2) {
      RC_ASSERT(targets.empty());
    } else {
      RC_ASSERT(inputs == std::vector<Token>(tokens.begin(), tokens.end() - 1));
      RC_ASSERT(targets == std::vector<Token>(tokens.begin() + 1, tokens.end()));
    }
  }));
}
