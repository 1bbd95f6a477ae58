#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <sys/resource.h>

namespace headcount {

// Bytes that processes may still take without swapping or being killed: what the system has
// available, and what the control groups (v1 or v2) of this process leave, whichever is less.
// `root` is where proc/ and sys/ are found. 0 where nothing can be told.
std::int64_t available_memory(const std::filesystem::path& root = "/");

// While it lives, this process gets no more than `bytes` of memory: allocations beyond it fail.
// Without effect under the sanitizers, whose shadow is larger than any limit.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::int64_t bytes);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_{};
};

// Whether a MemoryLimit has an effect in this build.
bool can_limit_memory();

std::string bytes_text(std::int64_t bytes);  // "1.5 GiB"

// "8G", "512M", "1.5G", "4096": powers of 1024. Nothing for anything else and below one byte.
std::optional<std::int64_t> parse_bytes(std::string_view text);

}  // namespace headcount
