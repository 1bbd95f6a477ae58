// The content hash. Inside the module only.
#pragma once

#include <string>

#include "store/tree.hpp"

namespace headcount::store {

// SHA-256, in hexadecimal, over every object outside /timing and /provenance in the byte order of
// their paths: path, kind, type, shape, dimensions, attributes in byte order (without
// content_sha256), values. Storage and order of creation do not count.
std::string content_sha256(const Tree& tree);

}  // namespace headcount::store
