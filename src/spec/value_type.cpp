#include "spec/value_type.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "spec/lexical.hpp"

namespace headcount {
namespace {

Converted good(std::string text) { return {std::move(text), ""}; }
Converted bad(std::string problem) { return {"", std::move(problem)}; }

bool in_parentheses(std::string_view text) {
  return text.size() >= 2 && text.front() == '(' && text.back() == ')';
}

std::vector<std::string> words_of(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<std::string> words;
  for (text = trim(text); !text.empty(); text = trim(text)) {
    const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

// Only what a line of a spec gives back unchanged, so that a resolved spec can be read again.
Converted convert_text(std::string_view text) {
  if (const auto unfit = unfit_bytes(text); !unfit.empty()) return bad(unfit);
  const std::string after_blank = fmt::format(" {}", text);
  const auto [content, problem] = cut_comment(after_blank);
  if (!problem.empty()) return bad(problem);
  if (content != text) return bad("'#' or ';' at the start or after a blank begins a comment");
  return good(std::string(text));
}

Converted convert_label(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  if (text.size() > kLongest || text != file_safe(text, kLongest))
    return bad(
        fmt::format("a name has 1 to {} letters, digits, '.', '_', '-' or '+', and no '.' or '-' "
                    "at its ends",
                    kLongest));
  return good(std::string(text));
}

Converted convert_boolean(std::string_view text) {
  const auto value = parse_boolean(text);
  return value ? good(*value ? "yes" : "no") : bad("neither yes nor no");
}

std::optional<std::string> head_index(std::string_view text) {
  if (text == "*") return "*";
  const auto value = parse_integer(text);
  if (!value || *value < 0) return std::nullopt;
  return std::to_string(*value);
}

Converted convert_heads(std::string_view text) {
  if (in_parentheses(text)) text = text.substr(1, text.size() - 2);
  std::vector<std::string> heads;
  for (const auto& group : split(text, ',')) {
    const auto words = words_of(group);
    if (words.empty()) return bad("an empty place in the list");
    for (const auto& word : words) {
      const auto parts = split(word, ':');
      const auto layer = parts.size() == 3 ? head_index(parts[1]) : std::nullopt;
      const auto head = parts.size() == 3 ? head_index(parts[2]) : std::nullopt;
      if (!layer || !head || !is_dotted_name(parts[0]))
        return bad(
            fmt::format("{} names no heads; write site:layer:head, with * for all: "
                        "decoder_self:0:*",
                        shown(word)));
      heads.push_back(parts[0] + ":" + *layer + ":" + *head);
    }
  }
  return good(join(heads, ", "));
}

}  // namespace

std::string_view name_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::text:
      return "text";
    case ValueKind::label:
      return "name";
    case ValueKind::integer:
      return "integer";
    case ValueKind::real:
      return "real";
    case ValueKind::boolean:
      return "yes/no";
    case ValueKind::choice:
      return "choice";
    case ValueKind::integers:
      return "integers";
    case ValueKind::choices:
      return "choices";
    case ValueKind::names:
      return "names";
    case ValueKind::heads:
      return "heads";
  }
  throw Error(ExitCode::internal, "a value kind without a name");
}

ValueType ValueType::or_word(std::string word) const {
  ValueType copy = *this;
  copy.words_.push_back(std::move(word));
  return copy;
}

bool ValueType::is_word(std::string_view text) const {
  return std::find(words_.begin(), words_.end(), text) != words_.end();
}

bool ValueType::is_numeric() const {
  return kind_ == ValueKind::integer || kind_ == ValueKind::real || kind_ == ValueKind::integers;
}

bool ValueType::may_hold_commas() const {
  return kind_ == ValueKind::text || kind_ == ValueKind::names || kind_ == ValueKind::heads;
}

bool ValueType::operator==(const ValueType& other) const {
  return kind_ == other.kind_ && range() == other.range();
}

std::string ValueType::range() const {
  std::string range;
  if (kind_ == ValueKind::integer || kind_ == ValueKind::integers)
    range = most_ == type::kNoLimit ? fmt::format("{} or more", least_)
                                    : fmt::format("{} .. {}", least_, most_);
  if (kind_ == ValueKind::real && interval_.notation() != "(-inf, inf)")
    range = interval_.notation();
  if (kind_ == ValueKind::choice || kind_ == ValueKind::choices || kind_ == ValueKind::names)
    range = join(choices_, ", ");
  for (const auto& word : words_) range += (range.empty() ? "or " : ", or ") + word;
  return range;
}

std::string ValueType::description() const {
  const auto limits = range();
  return fmt::format("{}{}{}", name_of(kind_), limits.empty() ? "" : ": ", limits);
}

Converted ValueType::convert(std::string_view text) const {
  text = unquote(trim(text));
  if (is_word(text)) return good(std::string(text));
  if (text.empty() && !may_hold_commas())
    return bad(fmt::format("needs a value: {}", description()));
  switch (kind_) {
    case ValueKind::text:
      return convert_text(text);
    case ValueKind::label:
      return convert_label(text);
    case ValueKind::integer:
      return convert_integer(text);
    case ValueKind::real:
      return convert_real(text);
    case ValueKind::boolean:
      return convert_boolean(text);
    case ValueKind::choice:
      return convert_choice(text);
    case ValueKind::integers:
      return convert_list(text, &ValueType::convert_integer);
    case ValueKind::choices:
      return convert_list(text, &ValueType::convert_choice);
    case ValueKind::names:
      return convert_names(text);
    case ValueKind::heads:
      return convert_heads(text);
  }
  throw Error(ExitCode::internal, "a value kind without a conversion");
}

Converted ValueType::convert_integer(std::string_view text) const {
  const auto value = parse_integer(text);
  if (!value && parse_real(text))
    return bad("not an integer, or too large for one; write it in digits alone");
  if (!value) return bad("not an integer");
  if (*value < least_ || *value > most_) return bad(fmt::format("out of range: {}", range()));
  return good(std::to_string(*value));
}

Converted ValueType::convert_real(std::string_view text) const {
  const auto value = parse_real(text);
  if (!value) return bad("not a finite number");
  if (!interval_.contains(*value)) return bad(fmt::format("out of range: {}", range()));
  return good(*value == 0 ? "0" : shortest(*value));  // no negative zero
}

Converted ValueType::convert_choice(std::string_view text) const {
  if (std::find(choices_.begin(), choices_.end(), text) != choices_.end())
    return good(std::string(text));
  return bad(fmt::format("not one of: {}{}", join(choices_, ", "), suggestion(text, choices_)));
}

Converted ValueType::convert_list(std::string_view text, ConvertOne one) const {
  if (!in_parentheses(text)) return (this->*one)(text);
  const auto inside = text.substr(1, text.size() - 2);
  if (inside.find(',') != std::string_view::npos)
    return bad("separate the values inside parentheses by blanks: (8 8 4 4)");
  std::vector<std::string> values;
  for (const auto& word : words_of(inside)) {
    const auto value = is_word(word) ? good(word) : (this->*one)(word);
    if (!value.ok()) return bad(fmt::format("{}: {}", shown(word), value.problem));
    values.push_back(value.text);
  }
  if (values.empty()) return bad("no value between the parentheses");
  return good(values.size() == 1 ? values.front() : fmt::format("({})", join(values, " ")));
}

Converted ValueType::convert_names(std::string_view text) const {
  const bool parentheses = in_parentheses(text);
  const auto names = parentheses ? words_of(text.substr(1, text.size() - 2)) : split(text, ',');
  std::set<std::string> seen;
  for (const auto& name : names) {
    if (name.empty()) return bad("an empty place in the list");
    if (std::find(choices_.begin(), choices_.end(), name) == choices_.end())
      return bad(fmt::format("{} is not one of: {}{}", shown(name), join(choices_, ", "),
                             suggestion(name, choices_)));
    if (!seen.insert(name).second) return bad(fmt::format("{} stands twice", shown(name)));
  }
  return good(join(names, ", "));
}

namespace type {

ValueType text() { return ValueType(ValueKind::text); }
ValueType label() { return ValueType(ValueKind::label); }
ValueType integer(std::int64_t least, std::int64_t most) {
  return ValueType(ValueKind::integer, least, most);
}
ValueType real(std::string interval) {
  return ValueType(ValueKind::real, Interval(std::move(interval)));
}
ValueType boolean() { return ValueType(ValueKind::boolean); }
ValueType choice(std::vector<std::string> names) {
  return ValueType(ValueKind::choice, std::move(names));
}
ValueType integers(std::int64_t least, std::int64_t most) {
  return ValueType(ValueKind::integers, least, most);
}
ValueType choices(std::vector<std::string> names) {
  return ValueType(ValueKind::choices, std::move(names));
}
ValueType names(std::vector<std::string> choices) {
  return ValueType(ValueKind::names, std::move(choices));
}
ValueType heads() { return ValueType(ValueKind::heads); }

}  // namespace type
}  // namespace headcount
