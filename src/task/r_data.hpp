#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headcount {

// The character vectors in the bytes of an R lazy-load data file (Rdata.rdb), in their order;
// objects of other kinds are passed over. The file is a run of records, each a 4-byte big-endian
// length and a zlib stream that expands to so many bytes: an R object in the binary XDR form of
// "R Internals", section 1.8, versions 2 and 3.
//
// Throws Error (bad_data), naming the record and what is wrong, for anything else; also for missing
// values, for text that is not UTF-8, and when the records expand to more than `limit` bytes.
std::vector<std::vector<std::string>> read_r_character_vectors(std::string_view file,
                                                               std::size_t limit = std::size_t{1}
                                                                                   << 26);

}  // namespace headcount
