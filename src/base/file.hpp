#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

namespace headcount {

// The whole file. Errors: no_input when it is missing, bad_data when larger than `limit` bytes, io
// otherwise.
std::string read_file(const std::filesystem::path& path, std::size_t limit = std::size_t{1} << 31);

// Publishes `path` whole or not at all: `write` fills a temporary file beside it (made with
// exclusive creation), which is then fsynced, renamed over `path`, and the folder fsynced. The
// temporary file is gone on any failure.
void publish_file(const std::filesystem::path& path,
                  const std::function<void(const std::filesystem::path& temporary)>& write);

// publish_file with this content.
void publish_text(const std::filesystem::path& path, const std::string& text);

// Removes the temporary files that processes of this host left in `folder` when they were killed;
// those of living processes and of other hosts stay. Returns how many are gone.
std::size_t remove_abandoned(const std::filesystem::path& folder);

// Where fetched data is kept between runs: $HEADCOUNT_CACHE, else $XDG_CACHE_HOME/headcount, else
// ~/.cache/headcount.
std::filesystem::path cache_directory();

}  // namespace headcount
