#include "store/heap.hpp"

#include <cstring>

#include "catch.hpp"
#include "laws.hpp"

namespace headcount::h5 {
namespace {

template <class Number>
std::string raw(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

std::string reference(std::uint32_t count, std::uint64_t address, std::uint32_t index) {
  return raw(count) + raw(address) + raw(index);
}

std::string object(std::uint16_t id, const std::string& value) {
  return raw(id) + raw(std::uint16_t{0}) + raw(std::uint32_t{0}) +
         raw(std::uint64_t{value.size()}) + value + std::string((8 - value.size() % 8) % 8, '\0');
}

// 8 bytes of something else, then one collection of two values and free space.
std::string file() {
  const std::string objects = object(1, "four") + object(2, "elevenbytes") + object(0, "");
  return std::string(8, 'x') + "GCOL" + raw(std::uint32_t{1}) +
         raw(std::uint64_t{16 + objects.size()}) + objects;
}

Heap heap_of(const std::string& bytes) {
  return {[bytes](std::uint64_t offset, std::size_t size) {
            REQUIRE(offset + size <= bytes.size());
            return bytes.substr(offset, size);
          },
          bytes.size()};
}

TEST_CASE("references are followed") {
  Heap heap = heap_of(file());
  CHECK(heap.value(reference(4, 8, 1), 1) == "four");
  CHECK(heap.value(reference(1, 8, 1), 4) == "four");
  CHECK(heap.value(reference(11, 8, 2), 1) == "elevenbytes");
  CHECK(heap.value(reference(0, 0, 0), 1) == "");
}

TEST_CASE("references that lead nowhere give nothing") {
  Heap heap = heap_of(file());
  CHECK_FALSE(heap.value(reference(5, 8, 1), 1));
  CHECK_FALSE(heap.value(reference(1, 8, 1), 1));
  CHECK_FALSE(heap.value(reference(4, 8, 3), 1));
  CHECK_FALSE(heap.value(reference(4, 8, 0), 1));
  CHECK_FALSE(heap.value(reference(4, 8, 0x10001), 1));
  CHECK_FALSE(heap.value(reference(4, 0, 1), 1));
  CHECK_FALSE(heap.value(reference(4, 1000, 1), 1));
  CHECK_FALSE(heap.value(reference(4, UINT64_MAX, 1), 1));
}

TEST_CASE("no damage leads outside of the file") {
  REQUIRE(rc::check([] {
    std::string bytes = file();
    const auto flips = *rc::gen::inRange(1, 20);
    for (int i = 0; i < flips; ++i)
      bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
    Heap heap = heap_of(bytes);
    for (std::uint32_t index = 0; index < 4; ++index) {
      const auto value = heap.value(reference(4, 8, index), 1);
      RC_ASSERT((!value || value->size() == 4));  // bare, both sides are evaluated
    }
  }));
}

}  // namespace
}  // namespace headcount::h5
