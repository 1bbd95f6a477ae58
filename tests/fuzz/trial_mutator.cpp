// How libFuzzer changes trial files: mostly a few bytes in place, since what follows would be at
// the wrong address otherwise.
//
// HDF5 1.10 trusts what has a right checksum. With HEADCOUNT_FUZZ_SEAL=1 checksums are put right
// again; that finds faults in the library, some of which src/store can prevent. Without, changes
// stay with what damage can do.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>

// Of the HDF5 library, which uses it for its own metadata.
extern "C" std::uint32_t H5_checksum_metadata(const void* data, std::size_t size,
                                              std::uint32_t initial);

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace headcount {
namespace {

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
  static const bool seals = std::getenv("HEADCOUNT_FUZZ_SEAL") != nullptr;
  std::minstd_rand random(seed);
  constexpr std::size_t window = 32;
  if (size <= window || random() % 16 == 0) return LLVMFuzzerMutate(data, size, most);
  LLVMFuzzerMutate(data + random() % (size - window), window, window);
  if (seals) headcount::seal_all(data, size);
  return size;
}
