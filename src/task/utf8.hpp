#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headcount {

// UTF-8 (RFC 3629). Everything but check_utf8 requires well-formed text.

// Throws Error (bad_data) naming `where`, the line and the byte offset of the first ill-formed
// sequence, or of a zero byte, which no text holds.
void check_utf8(std::string_view text, const std::string& where);

// The code point that starts at `at`, which moves behind it.
char32_t next_code_point(std::string_view text, std::size_t& at);

void append_utf8(std::string& text, char32_t code_point);

// Bytes that do not continue a code point: also of a text that starts or ends inside one.
std::int64_t count_code_points(std::string_view text);

// Byte offset of the code point number `index` (from 0); the text's size when there are fewer.
std::size_t offset_of_code_point(std::string_view text, std::int64_t index);

// The text with control characters, invisible and direction-changing ones and the backslash
// written as escapes: \n, \t, \\, \u{200b}.
std::string printable(std::string_view text);

}  // namespace headcount
