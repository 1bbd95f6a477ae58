// Corpora that know more than their text: parsed sentences, labelled lines and the package lists of
// apt, as readers see them and as the tasks made of them. The first bytes choose; the rest is the
// file.
#include <array>

#include "fuzz.hpp"
#include "task/conllu.hpp"
#include "task/data_sections.hpp"
#include "task/labelled_text.hpp"
#include "task/make_task.hpp"
#include "task/utf8.hpp"

namespace headcount {
namespace {

bool is_word(const Span& span, std::int64_t length) {
  return 0 <= span.first && span.first < span.end && span.end <= length;
}

void require_apart(const Relation& relation, std::int64_t length) {
  const auto& [kind, dependent, governor] = relation;
  fuzz::require(is_word(dependent, length) && is_word(governor, length), "a word is in its text");
  fuzz::require(dependent.end <= governor.first || governor.end <= dependent.first,
                "the words of a relation are apart");
}

void read_parsed(std::string_view text) {
  fuzz::answers([&] {
    check_utf8(text, "fuzz.conllu");
    for (const auto& sentence : read_conllu(text, "fuzz.conllu")) {
      const auto length = count_code_points(sentence.text);
      for (const auto& word : sentence.words) {
        fuzz::require(is_word(word.place, length), "a word is in its sentence");
        fuzz::require(word.head >= 0 && word.head <= std::ssize(sentence.words),
                      "a head is a word of the sentence");
      }
      for (const auto& relation : relations_of_parse(sentence)) require_apart(relation, length);
    }
  });
}

// What is read can be written and is read again the same.
void read_labelled(std::string_view text) {
  fuzz::answers([&] {
    const auto texts = labelled_texts(text, "fuzz.tsv");
    std::string again = "text\tlabel\n";
    for (const auto& [words, label] : texts) again += words + '\t' + label + '\n';
    fuzz::require(labelled_texts(again, "again.tsv") == texts, "labelled texts read back the same");
  });
}

// All of a section can be written as labelled lines.
void read_packages(std::string_view packages) {
  fuzz::answers([&] {
    std::string lines;
    const auto texts = synopses_by_section(packages);
    for (const auto& [words, label] : texts) lines += words + '\t' + label + '\n';
    if (!texts.empty())
      fuzz::require(labelled_texts(lines, "sections.tsv") == texts, "synopses are labelled texts");
  });
}

void use(const Task& task) {
  const auto batch = task.training_batch(1, 0, 64);
  const auto outputs = task.classes().empty() ? task.vocabulary_size() : std::ssize(task.classes());
  fuzz::require(std::ssize(batch.targets) == batch.first_target(batch.input.count()),
                "each token or sequence has a target");
  for (const auto target : batch.targets)
    fuzz::require(target >= kNoTarget && target < outputs, "a target is an output");
  for (const auto token : batch.input.tokens)
    fuzz::require(token >= 0 && token < task.vocabulary_size(), "a token is in the vocabulary");
  for (const auto name : {SplitName::validation, SplitName::test})
    for (const auto& example : task.split(name).examples) {
      const auto length = std::ssize(example.input);
      fuzz::require(0 < length && length <= task.longest_sequence(),
                    "no example is longer than the longest");
      for (const auto& relation : example.relations) require_apart(relation, length);
    }
  task.report();
}

void make(fuzz::Choices choices) {
  static const fuzz::ScratchFile file;
  const std::string kind = std::array{"language-model", "masked-lm", "classify"}[choices.below(3)];
  TaskConfig config;
  config.set("task.kind", kind);
  config.set("task.data", (kind == "classify" ? "file:" : "conllu:") + file.path());
  config.set("task.tokenizer", std::array{"byte", "character", "word"}[choices.below(3)]);
  config.set("task.conllu-document", std::array{"sentence", "newdoc"}[choices.below(2)]);
  config.set("task.balanced", std::array{"no", "yes"}[choices.below(2)]);
  config.set("task.classes", static_cast<std::int64_t>(choices.below(4)));
  config.set("task.block", 1 + choices.byte());
  config.set("task.validation", choices.byte() / 256.0);
  config.set("task.test", choices.byte() / 256.0);
  file.write(choices.rest());
  fuzz::answers([&] { use(*make_task(config)); });
}

}  // namespace
}  // namespace headcount

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headcount;
  fuzz::Choices choices(fuzz::text_of(data, size));
  switch (choices.below(5)) {
    case 0:
      read_parsed(choices.rest());
      break;
    case 1:
      read_labelled(choices.rest());
      break;
    case 2:
      read_packages(choices.rest());
      break;
    default:
      make(choices);
  }
  return 0;
}
