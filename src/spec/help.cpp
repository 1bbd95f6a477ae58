#include "spec/help.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace headcount {
namespace {

struct SectionHelp {
  const char* name;
  const char* help;
};

constexpr SectionHelp kActingSections[] = {
    {"axis",
     "Sweeps keys, named in full, one a line; trials are all combinations, the last line moving "
     "fastest. Values: a list `1, 2, 4`; a range `1 .. 5` or `0.0 .. 0.9 step 0.1`, both ends "
     "included; `log(1e-4 .. 1e-2, 3)`. A value that is itself a list stands in parentheses: "
     "`(8 8 4 4), (4 4 4 4)`."},
    {"scale.NAME",
     "Keys, named in full, that `--scale NAME` sets. One value for a swept key ends its sweep; "
     "several make a new axis of it."},
};

constexpr const char* kPrecedence =
    "Later beats earlier: defaults, the file's sections, [axis], [scale.NAME], --set KEY=VALUE. "
    "`#` and `;` begin a comment at the start of a line and after a blank.";

std::string default_of(const Key& key) {
  if (key.fallback.is_required()) return "required";
  if (key.fallback.is_same_as()) return "as " + key.fallback.text();
  return key.fallback.text().empty() ? "empty" : key.fallback.text();
}

std::string type_of(const Key& key) {
  std::string type(name_of(key.type.kind()));
  if (const auto range = key.type.range(); !range.empty()) type += ": " + range;
  if (!key.unit.empty()) type += fmt::format(" [{}]", key.unit);
  return type;
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
  for (const auto& [name, help] : kActingSections)
    text += fmt::format("\n[{}]\n{}", name, wrap(plain(help), "    ", kWidth));
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
  for (const auto& [name, help] : kActingSections)
    text += fmt::format("\n## [{}]\n\n{}\n", name, help);
  return text + "\n" + kPrecedence + "\n";
}

}  // namespace

std::string help_text(const Schema& schema, HelpFormat format) {
  return format == HelpFormat::text ? as_text(schema) : as_markdown(schema);
}

}  // namespace headcount
