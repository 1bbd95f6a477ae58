// Trial files as they come from anywhere: every object and value is read, the content hashed and
// compared. An input is the file. The mutator puts the checksums of HDF5's structures right again,
// so that what it breaks is seen by more than their check.
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>

#include "fuzz.hpp"
#include "run/stored_trial.hpp"
#include "store/h5.hpp"
#include "store/reader.hpp"
#include "store/same.hpp"

// HDF5 1.10 forgets some of its memory when it gives up on a damaged file; what this program could
// forget is counted below.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

// It also asks for as much memory as a file says, and lives with being told that there is none.
// Where this program does so, `new` still ends the run.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

// Of the HDF5 library, which uses it for its own metadata.
extern "C" std::uint32_t H5_checksum_metadata(const void* data, std::size_t size,
                                              std::uint32_t initial);

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace headcount {
namespace {

// What there is at a path, in every form that its type has; refusals are answers.
void read_values(const ResultFile& file, const std::string& path) {
  file.shape(path);
  const auto dimensions = file.dimensions(path);
  for (std::size_t axis = 0; axis < dimensions.size(); ++axis) file.dimension_path(path, axis);
  if (!file.has_values(path)) return;
  const auto type = file.type(path);
  if (type == "text")
    file.read_texts(path);
  else if (type.starts_with("float"))
    file.read<double>(path);
  else
    file.read<std::int64_t>(path);
}

void read_attributes(const ResultFile& file, const std::string& path) {
  for (const auto& name : file.attributes(path)) {
    const bool is_text = fuzz::answers([&] { file.attribute_text(path, name); });
    if (!is_text && !fuzz::answers([&] { file.attribute_integer(path, name); }))
      fuzz::answers([&] { file.attribute_real(path, name); });
  }
}

void read_object(const ResultFile& file, const std::string& path) {
  fuzz::answers([&] { read_attributes(file, path); });
  if (!file.is_group(path)) fuzz::answers([&] { read_values(file, path); });
  for (const auto& name : file.children(path))
    read_object(file, path == "/" ? "/" + name : path + "/" + name);
}

std::uint64_t number_at(const std::uint8_t* data, std::size_t size) {
  std::uint64_t number = 0;
  std::memcpy(&number, data, size);
  return number;
}

void seal(std::uint8_t* data, std::size_t size, std::size_t left) {
  if (size > left || left - size < 4) return;
  const auto sum = H5_checksum_metadata(data, size, 0);
  std::memcpy(data + size, &sum, sizeof sum);
}

// Source of the sizes: HDF5 File Format Specification 3.0.
void seal_object_header(std::uint8_t* data, std::size_t left) {
  if (left < 32) return;
  const unsigned flags = data[5];
  std::size_t size = 6 + ((flags & 0x20U) ? 16U : 0U) + ((flags & 0x10U) ? 4U : 0U);
  const std::size_t width = std::size_t{1} << (flags & 3U);
  const auto messages = number_at(data + size, width);
  if (messages < left) seal(data, size + width + messages, left);
}

void seal_all(std::uint8_t* data, std::size_t size) {
  if (size > 48) seal(data, 44, size);  // the superblock
  for (std::size_t at = 0; at + 4 <= size; ++at) {
    const std::string_view signature(reinterpret_cast<const char*>(data + at), 4);
    if (signature == "OHDR") seal_object_header(data + at, size - at);
    if (signature == "FRHP") seal(data + at, 142, size - at);
    if (signature == "BTHD") seal(data + at, 34, size - at);
  }
}

}  // namespace
}  // namespace headcount

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  size = LLVMFuzzerMutate(data, size, most);
  if (seed % 8 != 0) headcount::seal_all(data, size);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headcount;
  static const fuzz::ScratchFile file;
  file.write(fuzz::text_of(data, size));
  const std::filesystem::path path = file.path();
  // One half of the work for one half of the inputs.
  if (std::hash<std::string_view>()(fuzz::text_of(data, size)) % 2 == 0) {
    validate(path);
    fuzz::answers([&] { fuzz::require(same(path, path).empty(), "a file is the same as itself"); });
  } else {
    fuzz::answers([&] { read_object(ResultFile(path), "/"); });
    fuzz::answers([&] { stored_settings(ResultFile(path)); });
  }
  fuzz::require(h5::open_objects(h5::Handle()) == 0, "everything in HDF5 is closed");
  return 0;
}
