// What schema 1 of the trial file fixes beyond HDF5 itself; docs/trial-file.md describes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headcount {

inline constexpr std::int64_t kSchema = 1;
inline constexpr std::string_view kSchemaAttribute = "schema";
inline constexpr std::string_view kContentAttribute = "content_sha256";

// Whether an object counts when files are compared: all do, outside /timing and /provenance.
bool is_content(std::string_view path);

// A measure's or method's name as a dataset or group name: `_` for `.` and `-`.
std::string dataset_name(std::string_view name);

// Text that every reader of HDF5 can decode: bytes that are not UTF-8, and NUL, become U+FFFD.
// For what comes from data (tokens); the writer refuses other text that is not UTF-8.
std::string readable_text(std::string_view text);

// Whether `text` is UTF-8 (no surrogates, no overlong forms) without NUL.
bool is_readable_text(std::string_view text);

}  // namespace headcount
