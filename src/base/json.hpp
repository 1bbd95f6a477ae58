#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace headcount {

// JSON as all files and messages of the program hold it; objects keep the order of their keys. The
// library's parser and printer are large templates: the two functions below hold the only ones.
using Json = nlohmann::ordered_json;

// Never throws: of a text that is no JSON, a value that is discarded (is_discarded), of which at()
// throws.
Json parse_json(std::string_view text);

// On one line, or laid out with so many blanks a level. Bytes that are no UTF-8 are replaced.
std::string to_text(const Json& json, int indent = -1);

}  // namespace headcount
