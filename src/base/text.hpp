#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headcount {

std::string_view trim(std::string_view text);

// Splits at every separator, trims the pieces; an empty text has no pieces.
std::vector<std::string> split(std::string_view text, char separator);

std::string join(const std::vector<std::string>& pieces, std::string_view separator);

// Strict, locale-free conversions: the whole text must be the number; nothing otherwise.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<double> parse_real(std::string_view text);   // finite only
std::optional<bool> parse_boolean(std::string_view text);  // yes, no, true, false, on, off

// The shortest text that parse_real reads back to the same bits.
std::string shortest(double value);

// Levenshtein distance in bytes.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate nearest to `name`, when it is near enough to be what was meant.
std::optional<std::string> nearest(std::string_view name,
                                   const std::vector<std::string>& candidates);

// "; did you mean 'x'?" or "".
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace headcount
