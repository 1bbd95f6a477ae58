#include "spec/lexical.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace headcount {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

// Bytes of the UTF-8 sequence at the front of `text`; 0 when there is no valid one (Unicode 15,
// table 3-7).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto between = [&](std::size_t i, unsigned low, unsigned high) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return between(1, 0x80, 0xbf) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const bool second =
        between(1, lead == 0xe0 ? 0xa0u : 0x80u, lead == 0xed ? 0x9fu : 0xbfu);  // no surrogates
    return second && between(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const bool second = between(1, lead == 0xf0 ? 0x90u : 0x80u, lead == 0xf4 ? 0x8fu : 0xbfu);
    return second && between(2, 0x80, 0xbf) && between(3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

}  // namespace

CutLine cut_comment(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') quoted = !quoted;
    if (c != '#' && c != ';') continue;
    if (quoted)
      return {{},
              fmt::format("'{}' inside quotes could be meant as text or as a comment; close the "
                          "quotes before it or leave it out",
                          c)};
    if (i == 0 || is_blank(line[i - 1])) {
      line = line.substr(0, i);
      break;
    }
  }
  if (quoted) return {{}, "a double quote is not closed"};
  return {trim(line), ""};
}

std::string unfit_bytes(std::string_view line) {
  for (std::size_t at = 0; at < line.size();) {
    if (is_control(line[at]) && line[at] != '\t')
      return fmt::format("a control character (byte 0x{:02x}) in column {}",
                         static_cast<unsigned char>(line[at]), at + 1);
    const std::size_t length = utf8_length(line.substr(at));
    if (length == 0)
      return fmt::format("not UTF-8 text (byte 0x{:02x} in column {})",
                         static_cast<unsigned char>(line[at]), at + 1);
    at += length;
  }
  return "";
}

std::string_view unquote(std::string_view value) {
  if (value.size() < 2 || value.front() != '"') return value;
  return value.find('"', 1) == value.size() - 1 ? trim(value.substr(1, value.size() - 2)) : value;
}

bool is_dotted_name(std::string_view text) {
  bool word = false;
  for (const char c : text) {
    if (c == '.' ? !word : !is_word_character(c)) return false;
    word = c != '.';
  }
  return word;
}

std::string shown(std::string_view value) {
  constexpr std::size_t kLongest = 80;
  std::string text = "'";
  for (std::size_t at = 0; at < value.size();) {
    if (at >= kLongest) return text + "...'";
    const std::size_t length = utf8_length(value.substr(at));
    if (length == 0 || is_control(value[at])) {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(value[at]));
      ++at;
    } else {
      text += value.substr(at, length);
      at += length;
    }
  }
  return text + "'";
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongest = 100;
  return name.size() > kLongest ? "" : did_you_mean(name, candidates);
}

ListPieces split_list(std::string_view text) {
  ListPieces list;
  int depth = 0;
  bool quoted = false;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '(') ++depth;
    if (c == ')' && --depth < 0) return {{}, "a ')' without its '('"};
    if (c == ',' && depth == 0) {
      list.pieces.emplace_back(trim(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  if (depth > 0) return {{}, "a '(' is not closed"};
  if (quoted) return {{}, "a double quote is not closed"};
  list.pieces.emplace_back(trim(text.substr(start)));
  return list;
}

std::string safe_characters(std::string_view text) {
  std::string safe;
  bool gap = false;
  for (const char c : text) {
    const bool keep = is_word_character(c) || c == '.' || c == '+';
    if (keep && gap && !safe.empty()) safe += '-';
    if (keep) safe += c;
    gap = !keep;
  }
  return safe;
}

std::string file_safe(std::string_view text, std::size_t limit) {
  const auto safe = safe_characters(text);
  const auto first = std::min(safe.find_first_not_of(".-"), safe.size());
  const auto name = std::string_view(safe).substr(first, limit);
  return std::string(name.substr(0, name.find_last_not_of(".-") + 1));
}

}  // namespace headcount
