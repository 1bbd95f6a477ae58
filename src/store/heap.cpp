#include "store/heap.hpp"

#include <cstring>

namespace headcount::h5 {
namespace {

constexpr std::size_t kHeader = 16;  // of a collection, and of an object in it

template <class Number>
Number number_at(std::string_view bytes, std::size_t offset) {
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

}  // namespace

std::optional<std::string_view> Heap::value(std::string_view reference, std::size_t width) {
  const auto count = number_at<std::uint32_t>(reference, 0);
  const auto address = number_at<std::uint64_t>(reference, 4);
  const auto index = number_at<std::uint32_t>(reference, 12);
  if (count == 0) return std::string_view();
  if (index > UINT16_MAX) return std::nullopt;
  const auto& objects = collection(address).objects;
  const auto object = objects.find(static_cast<std::uint16_t>(index));
  if (object == objects.end() || object->second.size() != count * width) return std::nullopt;
  return object->second;
}

const Heap::Collection& Heap::collection(std::uint64_t address) {
  const auto [place, is_new] = collections_.try_emplace(address);
  Collection& found = place->second;
  if (!is_new || address > file_bytes_ || file_bytes_ - address < kHeader) return found;
  const std::string header = read_(address, kHeader);
  const auto size = number_at<std::uint64_t>(header, 8);
  // Real collections do not overlap, so all of them together fit the file.
  if (!header.starts_with(std::string_view("GCOL\1", 5)) || size < kHeader ||
      size > file_bytes_ - address || size > file_bytes_ - held_bytes_)
    return found;
  held_bytes_ += size;
  found.bytes = read_(address, size);
  index(found);
  return found;
}

void Heap::index(Collection& collection) {
  const std::string_view bytes = collection.bytes;
  for (std::size_t at = kHeader; bytes.size() - at >= kHeader;) {
    const auto id = number_at<std::uint16_t>(bytes, at);
    const auto size = number_at<std::uint64_t>(bytes, at + 8);
    at += kHeader;
    if (id == 0 || size > bytes.size() - at) return;  // id 0: the free space, always last
    collection.objects.emplace(id, bytes.substr(at, size));
    const std::size_t padded = (size + 7) / 8 * 8;
    if (padded > bytes.size() - at) return;
    at += padded;
  }
}

}  // namespace headcount::h5
