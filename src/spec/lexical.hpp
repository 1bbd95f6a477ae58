#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headcount {

// The rules of spec text below the level of keys and values.

// What is left of a line once its comment is cut. '#' and ';' begin a comment at the start of a
// line and after a blank, never elsewhere: "file:a#b" is a value.
struct CutLine {
  std::string_view content;  // trimmed
  std::string problem;       // "" or: unbalanced quotes, a comment mark inside quotes
};
CutLine cut_comment(std::string_view line);

// What keeps the bytes of a line from being text: a control character or invalid UTF-8; else "".
std::string unfit_bytes(std::string_view line);

// The value without the double quotes that stand around the whole of it.
std::string_view unquote(std::string_view value);

// Words of letters, digits, '-' and '_', joined by dots: "model.d-model".
bool is_dotted_name(std::string_view text);

// A value in a message: in single quotes, escaped and cut so that it cannot spoil a terminal.
std::string shown(std::string_view value);

// did_you_mean, except for names so long that nobody meant one of the candidates.
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

// Splits at commas that stand outside parentheses and quotes; pieces are trimmed.
struct ListPieces {
  std::vector<std::string> pieces;
  std::string problem;  // "" or: unbalanced parentheses or quotes
};
ListPieces split_list(std::string_view text);

// Letters, digits and ". _ - +" stay; each run of anything else between them becomes one '-'.
std::string safe_characters(std::string_view text);

// The same as a file's name: no '.' or '-' at its ends, at most `limit` bytes. May be empty.
std::string file_safe(std::string_view text, std::size_t limit);

}  // namespace headcount
