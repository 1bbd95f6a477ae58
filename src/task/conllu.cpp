#include "task/conllu.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "task/lines.hpp"
#include "task/utf8.hpp"

namespace headcount {
namespace {

constexpr std::size_t kColumns = 10;
enum Column : std::size_t { kId, kForm, kUpos = 3, kHead = 6, kDeprel, kMisc = 9 };
using Row = std::array<std::string_view, kColumns>;

// A whole number without a sign.
std::optional<std::int64_t> number_in(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return {};
  return parse_integer(text);
}

// The value of a comment "# key = value" or "# key"; nothing of another comment.
std::optional<std::string_view> comment_value(std::string_view line, std::string_view key) {
  auto rest = trim(line.substr(1));
  if (!rest.starts_with(key)) return {};
  rest = rest.substr(key.size());
  if (rest.empty()) return rest;
  const bool ends = rest.front() == ' ' || rest.front() == '=';
  rest = trim(rest);
  if (!ends || !rest.starts_with('=')) return {};
  return trim(rest.substr(1));
}

bool has_attribute(std::string_view attributes, std::string_view wanted) {
  const auto pieces = split(attributes, '|');
  return std::ranges::find(pieces, wanted) != pieces.end();
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : lines_(text), file_(file) {}

  std::vector<ConlluSentence> read() {
    while (lines_.next()) {
      const auto line = lines_.line();
      if (line.empty())
        end_sentence();
      else if (line.front() == '#')
        comment(line);
      else
        row(columns_of(line));
    }
    end_sentence();
    if (sentences_.empty())
      throw Error(ExitCode::bad_data, fmt::format("{} holds no sentence", file_));
    return std::move(sentences_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { refuse_at(lines_.number(), why); }
  [[noreturn]] void refuse_at(std::int64_t line, const std::string& why) const {
    throw Error(ExitCode::bad_data, fmt::format("{}:{}: {}", file_, line, why));
  }

  Row columns_of(std::string_view line) const {
    Row row;
    std::size_t count = 0;
    for (std::size_t at = 0; at <= line.size(); ++count) {
      const auto end = std::min(line.find('\t', at), line.size());
      if (count < kColumns) row[count] = line.substr(at, end - at);
      at = end + 1;
    }
    if (count != kColumns)
      refuse(fmt::format("{} columns; a line has 10, with a tab between them", count));
    for (const auto column : row)
      if (column.empty()) refuse("an empty column; what is not there is written _");
    if (trim(row[kForm]).size() != row[kForm].size()) refuse("a form with blanks around it");
    return row;
  }

  void comment(std::string_view line) {
    if (!begun_) begin_sentence();
    if (rows_ > 0) refuse("a comment inside a sentence; comments stand before it");
    if (const auto id = comment_value(line, "sent_id")) now_.id = printable(*id);
    for (const auto key : {"newdoc", "newdoc id"})
      if (const auto id = comment_value(line, key)) {
        now_.opens_document = true;
        now_.document = printable(*id);
      }
  }

  void row(const Row& row) {
    if (!begun_) begin_sentence();
    ++rows_;
    const auto id = row[kId];
    if (const auto dash = id.find('-'); dash != std::string_view::npos)
      surface_token(row, number_in(id.substr(0, dash)), number_in(id.substr(dash + 1)));
    else if (const auto dot = id.find('.'); dot != std::string_view::npos)
      empty_node(number_in(id.substr(0, dot)), number_in(id.substr(dot + 1)));
    else
      word(row, number_in(id));
  }

  void surface_token(const Row& row, std::optional<std::int64_t> first,
                     std::optional<std::int64_t> last) {
    const auto refuse_token = [&](const std::string& why) {
      refuse(fmt::format("a token of the words {}{}", printable(row[kId]), why));
    };
    if (in_token()) refuse_token(fmt::format(" inside one that goes on to word {}", token_end_));
    if (!first || !last || *first != next_word() || *last <= *first)
      refuse_token(
          fmt::format("; one here begins with word {} and has two words or more", next_word()));
    append(row);
    token_end_ = *last;
  }

  void empty_node(std::optional<std::int64_t> after, std::optional<std::int64_t> which) {
    const auto words = std::ssize(now_.words);
    if (!after || !which || *after != words || *which != empty_nodes_ + 1)
      refuse(fmt::format("an empty node out of order; the next one here is {}.{}", words,
                         empty_nodes_ + 1));
    ++empty_nodes_;
  }

  void word(const Row& row, std::optional<std::int64_t> id) {
    if (!id || *id != next_word())
      refuse(fmt::format("'{}' where word {} is due", printable(row[kId]), next_word()));
    const auto head = number_in(row[kHead]);
    if (!head || *head == *id)
      refuse(fmt::format("the head of word {} is '{}'; it is the number of another word, or 0", *id,
                         printable(row[kHead])));
    if (!in_token()) append(row);
    now_.words.push_back({place_, row[kUpos], *head, row[kDeprel]});
    lines_of_words_.push_back(lines_.number());
    empty_nodes_ = 0;
  }

  std::int64_t next_word() const { return std::ssize(now_.words) + 1; }
  bool in_token() const { return next_word() <= token_end_; }

  // The form of a surface token, which is the place of the words that follow.
  void append(const Row& row) {
    if (blank_due_) {
      now_.text += ' ';
      ++length_;
    }
    now_.text += row[kForm];
    const auto characters = count_code_points(row[kForm]);
    place_ = {length_, length_ + characters};
    length_ += characters;
    blank_due_ = !has_attribute(row[kMisc], "SpaceAfter=No");
  }

  void begin_sentence() {
    now_ = {};
    lines_of_words_.clear();
    begun_ = true;
    blank_due_ = false;
    rows_ = token_end_ = empty_nodes_ = length_ = 0;
  }

  void end_sentence() {
    if (!begun_) return;
    if (now_.words.empty()) refuse("a sentence without words ends here");
    if (in_token())
      refuse(fmt::format("the sentence ends inside a token of words to {}", token_end_));
    const auto words = std::ssize(now_.words);
    for (std::size_t i = 0; i < now_.words.size(); ++i)
      if (const auto head = now_.words[i].head; head > words)
        refuse_at(lines_of_words_[i],
                  fmt::format("the head of word {} is {}, but the sentence has {} words", i + 1,
                              head, words));
    require_tree();
    sentences_.push_back(std::move(now_));
    begun_ = false;
  }

  // From each word heads lead to one without a head: `seen` says from which word each was first
  // come to.
  void require_tree() const {
    const auto& words = now_.words;
    std::vector<std::size_t> seen(words.size() + 1, 0);
    for (std::size_t start = 1; start <= words.size(); ++start) {
      std::size_t word = start;
      for (; word != 0 && seen[word] == 0; word = static_cast<std::size_t>(words[word - 1].head))
        seen[word] = start;
      if (word != 0 && seen[word] == start)
        refuse_at(lines_of_words_[word - 1],
                  fmt::format("the head of word {} is {}, and from there heads lead back to word "
                              "{}; they end at a word whose head is 0",
                              word, words[word - 1].head, word));
    }
  }

  Lines lines_;
  const std::string& file_;
  std::vector<ConlluSentence> sentences_;

  // Of the sentence that is being read.
  ConlluSentence now_;
  std::vector<std::int64_t> lines_of_words_;
  bool begun_ = false, blank_due_ = false;
  std::int64_t rows_ = 0;
  std::int64_t token_end_ = 0;    // the last word of the last surface token with several
  std::int64_t empty_nodes_ = 0;  // since the last word
  std::int64_t length_ = 0;       // of the text, in code points
  Span place_;
};

std::optional<RelationKind> kind_of(const ConlluSentence::Word& word,
                                    const ConlluSentence::Word& governor) {
  const auto relation = word.deprel.substr(0, word.deprel.find(':'));
  const bool on_verb = governor.upos == "VERB";
  const bool on_noun = governor.upos == "NOUN" || governor.upos == "PROPN";
  if (relation == "nsubj" && on_verb) return RelationKind::subject_verb;
  if (relation == "obj" && on_verb) return RelationKind::verb_object;
  if (relation == "amod" && word.upos == "ADJ" && on_noun) return RelationKind::adjective_noun;
  if (relation == "advmod" && word.upos == "ADV" && on_verb) return RelationKind::adverb_verb;
  return {};
}

}  // namespace

std::vector<ConlluSentence> read_conllu(std::string_view text, const std::string& file) {
  return Reader(text, file).read();
}

std::vector<Relation> relations_of_parse(const ConlluSentence& sentence) {
  std::vector<Relation> relations;
  for (const auto& word : sentence.words) {
    if (word.head == 0) continue;
    const auto& governor = sentence.words[static_cast<std::size_t>(word.head - 1)];
    if (word.place == governor.place) continue;
    if (const auto kind = kind_of(word, governor))
      relations.push_back({*kind, word.place, governor.place});
  }
  return relations;
}

}  // namespace headcount
