#include "spec/claim.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "spec/lexical.hpp"

namespace headcount {
namespace {

using Form = Expectation::Form;

const std::vector<std::string> kClaimKeys{"left", "right", "value", "expect", "published", "note"};

struct FormWords {
  Form form;
  std::vector<std::string_view> words;  // what stands before the number or the key
  std::string_view margin;              // the word before the number; "": a key follows
  bool margin_needed;
};

const std::vector<FormWords>& forms() {
  static const std::vector<FormWords> forms{
      {Form::greater, {"left", ">", "right"}, "by", false},
      {Form::less, {"left", "<", "right"}, "by", false},
      {Form::near, {"left", "~", "right"}, "within", true},
      {Form::increasing, {"increasing", "over"}, "", false},
      {Form::decreasing, {"decreasing", "over"}, "", false},
      {Form::peak_inside, {"peak", "inside", "over"}, "", false},
      {Form::valley_inside, {"valley", "inside", "over"}, "", false},
  };
  return forms;
}

constexpr const char* kFormsInWords =
    "write left > right, left < right, each with or without by NUMBER; left ~ right within NUMBER; "
    "increasing over KEY, decreasing over KEY, peak inside over KEY or valley inside over KEY";

// The first word of `text`, which is cut off.
std::string_view take_word(std::string_view& text) {
  text = trim(text);
  const auto end = std::min(text.find_first_of(" \t"), text.size());
  const auto word = text.substr(0, end);
  text = trim(text.substr(end));
  return word;
}

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::size_t kEnough = 8;  // no form has more words
  std::vector<std::string_view> words;
  while (!trim(text).empty() && words.size() < kEnough) words.push_back(take_word(text));
  return words;
}

// Reads one claim; remembers whether all of it could be read.
class Reader {
 public:
  Reader(const Layers::Block& block, const Schema& schema, const std::vector<std::string>& metrics,
         Problems& problems)
      : block_(block), schema_(schema), metrics_(metrics), problems_(problems) {}

  std::optional<Claim> read() {
    Claim claim;
    claim.name = block_.name;
    claim.place = block_.place;
    for (const auto& line : block_.lines)
      if (std::find(kClaimKeys.begin(), kClaimKeys.end(), line.key) == kClaimKeys.end())
        refuse(line, fmt::format("unknown key {} of a claim{} (a claim has: {})", shown(line.key),
                                 suggestion(line.key, kClaimKeys), join(kClaimKeys, ", ")));
    if (const auto* line = required("expect")) read_expectation(*line, claim.expect);
    if (known_form_)
      read_quantities(claim);
    else
      for (const auto key : {"left", "right", "value"})
        if (const auto* line = find(key)) read_quantity(*line);
    if (const auto* line = required("published")) claim.published = read_text(*line);
    if (const auto* line = find("note")) claim.note = read_text(*line);
    if (claim.left && claim.right && claim.left->metric != claim.right->metric)
      refuse(*find("right"),
             fmt::format("left is {}, right is {}; a claim compares one metric with itself",
                         claim.left->metric, claim.right->metric));
    if (!sound_) return std::nullopt;
    return claim;
  }

 private:
  void refuse(const Layers::Line& line, std::string_view message) {
    sound_ = false;
    problems_.add(line.place, line.key, fmt::format("[claim.{}]: {}", block_.name, message));
  }

  const Layers::Line* find(std::string_view key) const {
    const auto line = std::find_if(block_.lines.begin(), block_.lines.end(),
                                   [&](const Layers::Line& at) { return at.key == key; });
    return line == block_.lines.end() ? nullptr : &*line;
  }

  const Layers::Line* required(std::string_view key) {
    const auto* line = find(key);
    if (line) return line;
    sound_ = false;
    problems_.add(block_.place, std::string(key),
                  fmt::format("[claim.{}] does not say {}", block_.name, key));
    return nullptr;
  }

  void read_quantities(Claim& claim) {
    const auto read = [&](std::string_view key, std::optional<Quantity>& quantity) {
      if (const auto* line = required(key)) quantity = read_quantity(*line);
    };
    const auto refuse_other = [&](std::string_view key, std::string_view form) {
      if (const auto* line = find(key))
        refuse(*line, fmt::format("{} says nothing here: expect {}", key, form));
    };
    if (claim.expect.is_over_key()) {
      read("value", claim.value);
      refuse_other("left", "follows value over a key");
      refuse_other("right", "follows value over a key");
    } else {
      read("left", claim.left);
      read("right", claim.right);
      refuse_other("value", "compares left with right");
    }
  }

  // Further quantities begin with words of their own and branch off here.
  std::optional<Quantity> read_quantity(const Layers::Line& line) {
    std::string_view rest = line.values.front();
    Quantity quantity;
    quantity.metric = take_word(rest);
    if (std::find(metrics_.begin(), metrics_.end(), quantity.metric) == metrics_.end()) {
      refuse(line, fmt::format("unknown metric {}{} (known: {})", shown(quantity.metric),
                               suggestion(quantity.metric, metrics_), join(metrics_, ", ")));
      return std::nullopt;
    }
    auto after = rest;
    auto word = take_word(after);
    if (word == "on") {
      if (!read_split(take_word(after), line, quantity)) return std::nullopt;
      rest = after;
      word = take_word(after);
    }
    if (word == "where") return read_conditions(after, line, quantity);
    if (rest.empty()) return quantity;
    refuse(line, fmt::format("{} is not understood; write METRIC [on test|validation] [where KEY = "
                             "VALUE, KEY = VALUE ...]",
                             shown(rest)));
    return std::nullopt;
  }

  bool read_split(std::string_view word, const Layers::Line& line, Quantity& quantity) {
    if (word == "validation") quantity.split = ClaimSplit::validation;
    if (word == "test" || word == "validation") return true;
    refuse(line, fmt::format("{} is no split; write on test or on validation", shown(word)));
    return false;
  }

  std::optional<Quantity> read_conditions(std::string_view text, const Layers::Line& line,
                                          Quantity& quantity) {
    const auto list = split_list(text);
    bool good = list.problem.empty();
    if (!good) refuse(line, list.problem);
    std::set<std::string> seen;
    for (const auto& piece : list.pieces) {
      auto condition = read_condition(piece, line);
      if (condition && !seen.insert(condition->key).second) {
        refuse(line, fmt::format("{} stands twice", condition->key));
        condition.reset();
      }
      if (condition) quantity.where.push_back(std::move(*condition));
      good = good && condition;
    }
    if (!good) return std::nullopt;
    return quantity;
  }

  std::optional<Quantity::Condition> read_condition(std::string_view text,
                                                    const Layers::Line& line) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) {
      refuse(line, fmt::format("{} is no condition; write KEY = VALUE", shown(text)));
      return std::nullopt;
    }
    const auto* key = find_key(trim(text.substr(0, equals)), line);
    if (!key) return std::nullopt;
    const auto value = trim(text.substr(equals + 1));
    auto converted = key->type.convert(value);
    if (converted.ok()) return Quantity::Condition{key->name, std::move(converted.text)};
    refuse(line, fmt::format("{} = {}: {}", key->name, shown(value), converted.problem));
    return std::nullopt;
  }

  const Key* find_key(std::string_view name, const Layers::Line& line) {
    const auto* key = schema_.find(name);
    if (!key)
      refuse(line, fmt::format("unknown key {}{}", shown(name), schema_.suggest(name)));
    else if (key->descriptive)
      refuse(line, fmt::format("{} says what the experiment is; no trial differs in it", name));
    else
      return key;
    return nullptr;
  }

  void read_expectation(const Layers::Line& line, Expectation& expect) {
    const auto words = words_of(line.values.front());
    for (const auto& form : forms()) {
      if (words.size() < form.words.size() ||
          !std::equal(form.words.begin(), form.words.end(), words.begin()))
        continue;
      const std::vector<std::string_view> rest(
          words.begin() + static_cast<std::ptrdiff_t>(form.words.size()), words.end());
      expect.form = form.form;
      const bool understood = form.margin.empty() ? read_over(rest, line, expect)
                                                  : read_margin(form, rest, line, expect);
      if (understood) return;
    }
    if (!known_form_)
      refuse(line, fmt::format("expect = {}; {}", shown(line.values.front()), kFormsInWords));
  }

  bool read_margin(const FormWords& form, const std::vector<std::string_view>& rest,
                   const Layers::Line& line, Expectation& expect) {
    if (rest.empty() && !form.margin_needed) return known_form_ = true;
    if (rest.size() != 2 || rest[0] != form.margin) return false;
    known_form_ = true;
    const auto margin = parse_real(rest[1]);
    if (!margin || *margin <= 0)
      refuse(line, fmt::format("{} {}: write a number above 0", form.margin, shown(rest[1])));
    else
      expect.margin = *margin;
    return true;
  }

  bool read_over(const std::vector<std::string_view>& rest, const Layers::Line& line,
                 Expectation& expect) {
    if (rest.size() != 1) return false;
    known_form_ = true;
    expect.key = rest[0];
    const auto* key = find_key(rest[0], line);
    if (key && !key->type.is_numeric())
      refuse(line, fmt::format("{} takes no numbers ({})", key->name, key->type.description()));
    return true;
  }

  std::string read_text(const Layers::Line& line) {
    auto text = type::text().convert(line.values.front());
    if (!text.ok() || text.text.empty())
      refuse(line, text.ok() ? fmt::format("{} is empty", line.key) : text.problem);
    return text.text;
  }

  const Layers::Block& block_;
  const Schema& schema_;
  const std::vector<std::string>& metrics_;
  Problems& problems_;
  bool sound_ = true;
  bool known_form_ = false;  // which lines the claim needs is known
};

}  // namespace

std::string to_string(const Quantity& quantity) {
  auto text = quantity.metric;
  if (quantity.split == ClaimSplit::validation) text += " on validation";
  const char* before = " where ";
  for (const auto& [key, value] : quantity.where) {
    const bool plain = !value.empty() && value.find(',') == std::string::npos;
    text += fmt::format("{}{} = {}", before, key, plain ? value : fmt::format("\"{}\"", value));
    before = ", ";
  }
  return text;
}

std::string to_string(const Expectation& expectation) {
  std::string text;
  for (const auto& form : forms()) {
    if (form.form != expectation.form) continue;
    for (const auto word : form.words) text += fmt::format("{}{}", text.empty() ? "" : " ", word);
    if (form.margin.empty())
      text += " " + expectation.key;
    else if (expectation.margin > 0)
      text += fmt::format(" {} {}", form.margin, shortest(expectation.margin));
  }
  return text;
}

bool matches(const Quantity& quantity, const Settings& settings) {
  return std::all_of(quantity.where.begin(), quantity.where.end(), [&](const auto& condition) {
    return settings.has(condition.key) && settings.is(condition.key, condition.value);
  });
}

std::vector<Claim> read_claims(const std::vector<Layers::Block>& blocks, const Schema& schema,
                               const std::vector<std::string>& metrics, Problems& problems) {
  std::vector<Claim> claims;
  for (const auto& block : blocks)
    if (auto claim = Reader(block, schema, metrics, problems).read())
      claims.push_back(std::move(*claim));
  return claims;
}

}  // namespace headcount
