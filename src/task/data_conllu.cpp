#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"
#include "task/conllu.hpp"
#include "task/data_source.hpp"
#include "task/utf8.hpp"

namespace headcount {
namespace {

// A sentence behind the text of its document, on a line of its own. `length` is that of the text in
// code points.
void append(const ConlluSentence& sentence, Document& document, std::int64_t& length) {
  if (!document.text.empty()) {
    document.text += '\n';
    ++length;
  }
  const std::int64_t first = length;
  document.text += sentence.text;
  length += count_code_points(sentence.text);
  const auto moved = [&](const Span& word) { return Span{first + word.first, first + word.end}; };
  for (const auto& [kind, dependent, governor] : relations_of_parse(sentence))
    document.relations.push_back({kind, moved(dependent), moved(governor)});
}

Corpus read(const TaskConfig& config) {
  const std::string path = path_of(config, kConlluPrefix);
  const std::string file = read_text_file(path);
  const bool by_sentence = config.text("task.conllu-document") == "sentence";
  Corpus corpus{std::filesystem::absolute(path).string(), {}};
  std::string group;  // of the sentences that follow; "" before the first newdoc
  std::int64_t groups = 0, number = 0, length = 0;
  for (const auto& sentence : read_conllu(file, path)) {
    ++number;
    if (sentence.opens_document) {
      ++groups;
      group = sentence.document.empty() ? fmt::format("document {}", groups)
                                        : fmt::format("{}: {}", groups, sentence.document);
    }
    if (by_sentence) {
      const std::string name =
          sentence.id.empty() ? fmt::format("sentence {}", number) : sentence.id;
      corpus.documents.push_back({name, group.empty() ? name : group, "", {}});
      length = 0;
    } else if (corpus.documents.empty() || corpus.documents.back().group != group) {
      corpus.documents.push_back({group.empty() ? "before newdoc" : group, group, "", {}});
      length = 0;
    }
    append(sentence, corpus.documents.back(), length);
  }
  if (!by_sentence && groups == 0)
    throw Error(ExitCode::bad_data,
                fmt::format("{} has no comment newdoc, which task.conllu-document = newdoc needs; "
                            "take task.conllu-document = sentence",
                            path));
  return corpus;
}

}  // namespace

DataSource conllu_source() {
  return {{"conllu:PATH",
           "a parsed corpus in a CoNLL-U file of yours, at most 256 MiB: its text, and which word "
           "is subject, object, adjective or adverb of which",
           "Nivre et al. 2020, Universal Dependencies v2"},
          {{"task.conllu-document", TaskKey::Choice{"sentence", {"sentence", "newdoc"}},
            "with conllu:PATH, what is a document: every sentence, or what a comment newdoc "
            "opens; a split holds whole newdocs either way"}},
          read,
          nullptr};
}

}  // namespace headcount
