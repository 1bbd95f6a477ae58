#include "spec/help.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace headcount {
namespace {

struct SectionHelp {
  const char* name;
  const char* help;
  const char* example;  // lines of a spec
};

constexpr SectionHelp kActingSections[] = {
    {"axis",
     "Sweeps keys, named in full, one a line; trials are all combinations, the last line moving "
     "fastest. Values: a list `1, 2, 4`; a range `1 .. 5` or `0.0 .. 0.9 step 0.1`, both ends "
     "included; `log(1e-4 .. 1e-2, 3)`. A value that is itself a list stands in parentheses: "
     "`(8 8 4 4), (4 4 4 4)`.",
     "[axis]\n"
     "model.heads = 1, 2, 4, 8\n"
     "seed        = 1 .. 5\n"},
    {"zip.NAME",
     "Keys that move together: the first value of one with the first of the others, and so on. All "
     "have equally many values, written as in [axis]; the section counts as one axis, where it "
     "stands.",
     "[zip.size]\n"
     "model.layers  = 2, 4, 6\n"
     "model.d-model = 64, 128, 256\n"},
    {"case.NAME",
     "An extra trial, or several where a line lists values: the file's values outside [axis] and "
     "[zip.NAME], with these set on top; once for every seed that is swept. A case beats "
     "[scale.NAME]; --set beats both.",
     "[case.deep]\n"
     "model.layers = 12\n"
     "train.steps  = 16000\n"},
    {"skip.NAME",
     "Leaves out the points of [axis] and [zip.NAME] that match all of its lines; a line may list "
     "several values. A skip that matches nothing is an error.",
     "[skip.too-narrow]\n"
     "model.heads   = 16, 32\n"
     "model.d-model = 64\n"},
    {"claim.NAME",
     "What the literature says, in a form that trials can support or refute. `left` and `right` "
     "are a metric, `on test` (the default) or `on validation`, `where` keys have values; trials "
     "are paired by seed. `expect` is `left > right` or `left < right`, also `by 0.05`; `left ~ "
     "right within 0.02`. Or `value` in place of left and right, and `expect` is `increasing`, "
     "`decreasing`, `peak inside` or `valley inside`, `over` a swept key. `published`, which is "
     "required, says what the source reports; `note` what else there is to know.",
     "[claim.one-head-is-worse]\n"
     "left      = nll where model.heads = 1\n"
     "right     = nll where model.heads = 8\n"
     "expect    = left > right\n"
     "published = 5.29 against 4.92 perplexity\n"},
    {"scale.NAME",
     "Keys, named in full, that `--scale NAME` sets. One value for a swept key ends its sweep; "
     "several make a new axis of it. In a zip one value takes the key out, several replace its "
     "column.",
     "[scale.smoke]\n"
     "train.steps = 20\n"
     "seed        = 1\n"},
};

constexpr const char* kPrecedence =
    "Later beats earlier: defaults, the file's sections, [axis] and [zip.NAME], [scale.NAME], "
    "--set KEY=VALUE. "
    "`#` and `;` begin a comment at the start of a line and after a blank.";

std::string default_of(const Key& key) {
  if (key.fallback.is_required()) return "required";
  if (key.fallback.is_same_as()) return "as " + key.fallback.text();
  if (key.fallback.is_by()) {
    std::string text = key.fallback.text();
    for (const auto& [value, fallback] : key.fallback.values())
      text += fmt::format("; {} where {} = {}", fallback, key.fallback.key(), value);
    return text;
  }
  return key.fallback.text().empty() ? "empty" : key.fallback.text();
}

std::string type_of(const Key& key) {
  return key.type.description() + (key.unit.empty() ? "" : fmt::format(" [{}]", key.unit));
}

std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string plain(std::string_view text) {
  std::string plain;
  for (const char c : text)
    if (c != '`') plain += c;
  return plain;
}

// At blanks, so that no line passes `width` unless a word does; each line begins with `indent`.
std::string wrap(std::string_view text, std::string_view indent, std::size_t width) {
  std::string wrapped;
  while (!text.empty()) {
    std::size_t end = text.size();
    if (indent.size() + text.size() > width) {
      end = text.rfind(' ', width - indent.size());
      if (end == std::string_view::npos || end == 0) end = std::min(text.find(' '), text.size());
    }
    wrapped += fmt::format("{}{}\n", indent, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return wrapped;
}

std::string indented(std::string_view lines) {
  std::string text;
  for (const auto& line : split(lines, '\n'))
    text += line.empty() ? "" : fmt::format("        {}\n", line);
  return text;
}

std::string as_text(const Schema& schema) {
  constexpr std::size_t kWidth = 100;
  std::string text;
  std::string section;
  for (const auto& key : schema.keys()) {
    if (key.section() != section) {
      section = key.section();
      text += fmt::format("\n[{}]\n", section);
    }
    text += fmt::format("{} = {}\n", key.leaf(), default_of(key));
    text += wrap(type_of(key), "    ", kWidth);
    text += wrap(key.help, "    ", kWidth);
  }
  for (const auto& [name, help, example] : kActingSections)
    text +=
        fmt::format("\n[{}]\n{}\n{}", name, wrap(plain(help), "    ", kWidth), indented(example));
  return text + "\n" + wrap(plain(kPrecedence), "", kWidth);
}

std::string as_markdown(const Schema& schema) {
  constexpr const char* kHeader = "| key | type | default | meaning |\n| --- | --- | --- | --- |\n";
  std::string text = std::string("## Above all sections\n\n") + kHeader;
  std::string section;
  for (const auto& key : schema.keys()) {
    if (key.section() != section) {
      section = key.section();
      text += fmt::format("\n## [{}]\n\n{}", section, kHeader);
    }
    text += fmt::format("| `{}` | {} | {} | {} |\n", key.leaf(), cell(type_of(key)),
                        cell(default_of(key)), cell(key.help));
  }
  for (const auto& [name, help, example] : kActingSections)
    text += fmt::format("\n## [{}]\n\n{}\n\n```ini\n{}```\n", name, help, example);
  return text + "\n" + kPrecedence + "\n";
}

}  // namespace

std::string help_text(const Schema& schema, HelpFormat format) {
  return format == HelpFormat::text ? as_text(schema) : as_markdown(schema);
}

}  // namespace headcount
