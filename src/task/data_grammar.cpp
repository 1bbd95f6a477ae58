#include <unordered_set>

#include <fmt/format.h>

#include "task/data_source.hpp"
#include "task/grammar.hpp"

namespace headcount {
namespace {

constexpr std::uint64_t kSeed = 0x6772616D6D6172;  // the same sentences whatever a trial's seed

Corpus read(const TaskConfig& config) {
  const auto count = static_cast<std::size_t>(config.integer("task.grammar-sentences"));
  const double distractors = config.real("task.grammar-distractors");
  Corpus corpus{"none, generated", {}};
  // No sentence stands twice, so that none stands in two splits.
  std::unordered_set<std::string> seen;
  for (std::uint32_t item = 0; corpus.documents.size() < count; ++item) {
    auto [text, relations] =
        draw_sentence(RandomStream(kSeed, Purpose::synthetic_data, 0, item), distractors);
    if (!seen.insert(text).second) continue;
    corpus.documents.push_back({fmt::format("sentence {}", corpus.documents.size() + 1), "grammar",
                                std::move(text), std::move(relations)});
  }
  return corpus;
}

}  // namespace

DataSource grammar_source() {
  return {{"synthetic.grammar",
           "English-like sentences of a grammar with gold relations, for task.tokenizer = word: "
           "agreement across distractors, pronouns, frequencies as Zipf has them; documents are "
           "sentences, no two alike",
           ""},
          {{"task.grammar-sentences", TaskKey::Integer{50'000, 10, 1'000'000},
            "with synthetic.grammar, sentences in all"},
           {"task.grammar-distractors", TaskKey::Real{0.6, Interval("[0, 1]")},
            "with synthetic.grammar, how likely other words stand between the subject of a clause "
            "and its verb"}},
          read,
          nullptr};
}

}  // namespace headcount
