#include <filesystem>

#include <unistd.h>

#include "fuzz.hpp"

namespace headcount::fuzz {
namespace {

std::string new_name() { return (std::filesystem::temp_directory_path() / "fuzz-XXXXXX").string(); }

}  // namespace

ScratchFile::ScratchFile() : path_(new_name()), descriptor_(::mkstemp(path_.data())) {
  if (descriptor_ < 0) broken("a scratch file can be made");
}

ScratchFile::~ScratchFile() {
  ::close(descriptor_);
  ::unlink(path_.c_str());
}

void ScratchFile::write(std::string_view bytes) const {
  const auto size = static_cast<ssize_t>(bytes.size());
  if (::ftruncate(descriptor_, size) != 0 ||
      ::pwrite(descriptor_, bytes.data(), bytes.size(), 0) != size)
    broken("a scratch file can be written");
}

}  // namespace headcount::fuzz
