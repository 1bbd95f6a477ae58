#include "task/utf8.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"

namespace headcount {
namespace {

unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

bool continues(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// Bytes of the code point that a first byte announces; 0 where no code point starts so.
std::size_t announced_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 0;
}

// Bytes of the well-formed code point at `at`, else 0.
std::size_t well_formed_length(std::string_view text, std::size_t at) {
  const std::size_t length = announced_length(byte_at(text, at));
  if (length == 0 || length > text.size() - at) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!continues(byte_at(text, at + i))) return 0;
  std::size_t behind = at;
  const char32_t value = next_code_point(text, behind);
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  return overlong || surrogate || value > 0x10FFFF ? 0 : length;
}

bool is_invisible(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0xAD || c == 0x61C || c == 0xFEFF ||
         (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F);
}

}  // namespace

void check_utf8(std::string_view text, const std::string& where) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = well_formed_length(text, at);
    const auto refuse = [&](const std::string& what) {
      const auto line = 1 + std::ranges::count(text.substr(0, at), '\n');
      throw Error(ExitCode::bad_data, fmt::format("{}:{}: {}", where, line, what));
    };
    if (length == 0)
      refuse(
          fmt::format("byte 0x{:02x} at offset {} is not valid UTF-8; convert the text with "
                      "iconv -t UTF-8",
                      byte_at(text, at), at));
    if (text[at] == '\0')
      refuse(fmt::format("zero byte at offset {}; this is not plain UTF-8 text", at));
    at += length;
  }
}

char32_t next_code_point(std::string_view text, std::size_t& at) {
  const unsigned char first = byte_at(text, at);
  const std::size_t length = announced_length(first);
  char32_t value = length == 1 ? first : first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) value = value << 6 | (byte_at(text, at + i) & 0x3Fu);
  at += length;
  return value;
}

void append_utf8(std::string& text, char32_t c) {
  const auto add = [&](char32_t bits) { text += static_cast<char>(bits); };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xC0 | c >> 6);
    add(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    add(0xE0 | c >> 12);
    add(0x80 | (c >> 6 & 0x3F));
    add(0x80 | (c & 0x3F));
  } else {
    add(0xF0 | c >> 18);
    add(0x80 | (c >> 12 & 0x3F));
    add(0x80 | (c >> 6 & 0x3F));
    add(0x80 | (c & 0x3F));
  }
}

std::int64_t count_code_points(std::string_view text) {
  std::int64_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++at) count += !continues(byte_at(text, at));
  return count;
}

std::size_t offset_of_code_point(std::string_view text, std::int64_t index) {
  for (std::size_t at = 0; at < text.size(); ++at)
    if (!continues(byte_at(text, at)) && index-- == 0) return at;
  return text.size();
}

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else if (c == '\\')
      result += "\\\\";
    else if (is_invisible(c))
      result += fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(c));
    else
      append_utf8(result, c);
  }
  return result;
}

}  // namespace headcount
