// Equality of two trial files, for `headcount same`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace headcount {

struct Difference {
  std::string path;  // of the object
  std::string what;  // what differs and both values
};

// Where two trial files differ outside /timing and /provenance, in the byte order of paths:
// objects, types, shapes, dimensions, attributes (but content_sha256) and bytes, so that NaN equals
// NaN when the bits do. Ends after `limit` differences. Empty exactly when the content hashes are
// equal. Errors as ResultFile.
std::vector<Difference> same(const std::filesystem::path& a, const std::filesystem::path& b,
                             std::size_t limit = 20);

}  // namespace headcount
