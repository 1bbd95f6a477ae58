#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "spec/problem.hpp"

namespace headcount {

inline constexpr std::size_t kLargestSpec = std::size_t{1} << 20;  // bytes of a spec file

// Stands for the name of a section that cannot be read; what is below it belongs nowhere.
inline constexpr const char* kUnreadableSection = "?";

// A spec file as sections and lines, before anything is known of its keys.
struct SpecText {
  struct Section {
    std::string name;  // "" for what stands above all sections
    Place place;
  };
  struct Entry {
    std::size_t section;  // index into sections
    std::string key;      // as written, without the section
    std::string value;    // as written, comment cut and trimmed
    Place place;
  };
  std::vector<Section> sections;  // in the order of the file; one name can come again
  std::vector<Entry> entries;     // in the order of the file
};

// INI through Boost.Program_options, behind a scan of our own that gives it only lines it reads
// right. The scan takes a UTF-8 byte order mark, CRLF, "; comment" and "[ section ]"; it refuses,
// naming the line: lines that are neither a section nor an assignment, `[]`, open quotes and
// comment marks inside quotes, bytes that are not text, and files, lines or counts of lines beyond
// all reason. Whatever it refuses goes to `problems`; the rest is returned.
SpecText read_spec_text(std::string_view text, const std::string& file, Problems& problems);

}  // namespace headcount
