#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.hpp"

namespace headcount::fuzz {

MemoryPath::MemoryPath() : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
  if (descriptor_ < 0) broken("a file in memory can be made");
}

MemoryPath::~MemoryPath() { ::close(descriptor_); }

void MemoryPath::write(std::string_view bytes) const {
  const auto size = static_cast<ssize_t>(bytes.size());
  if (::ftruncate(descriptor_, size) != 0 ||
      ::pwrite(descriptor_, bytes.data(), bytes.size(), 0) != size)
    broken("a file in memory can be written");
}

std::filesystem::path MemoryPath::path() const {
  return "/proc/self/fd/" + std::to_string(descriptor_);
}

}  // namespace headcount::fuzz
