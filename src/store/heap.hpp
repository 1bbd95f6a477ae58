// The values of variable length in an HDF5 file. HDF5 1.10 follows their references without looking
// (a damaged index or length reads or writes past its buffers), so they are followed here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace headcount::h5 {

// Bytes of the file; throws Error (bad_data) where there are none.
using ReadBytes = std::function<std::string(std::uint64_t offset, std::size_t size)>;

// What a dataset or attribute holds for each value: count, address, index (4 + 8 + 4 bytes).
inline constexpr std::size_t kReferenceBytes = 16;

// The global heaps of a file. Source: HDF5 File Format Specification 3.0, section III.E.
class Heap {
 public:
  Heap(ReadBytes read, std::size_t file_bytes) : read_(std::move(read)), file_bytes_(file_bytes) {}

  // The value that `reference` (kReferenceBytes) stands for, of elements of `width` bytes; nothing
  // when it refers to no whole value. The bytes stay where they are as long as the heap.
  std::optional<std::string_view> value(std::string_view reference, std::size_t width);

 private:
  struct Collection {
    std::string bytes;
    std::map<std::uint16_t, std::string_view> objects;
  };
  const Collection& collection(std::uint64_t address);
  static void index(Collection& collection);

  ReadBytes read_;
  std::size_t file_bytes_;
  std::size_t held_bytes_ = 0;
  std::map<std::uint64_t, Collection> collections_;  // an empty one where there is none
};

}  // namespace headcount::h5
