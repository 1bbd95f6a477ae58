// The HDF5 C library, as far as trial files need it: datasets, attributes, dimension scales.
// Errors as in h5.hpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "store/h5.hpp"
#include "store/half.hpp"

namespace headcount::h5 {

using Shape = std::vector<std::size_t>;  // no axes: a scalar

// The types of schema 1 and what their values look like in memory.
enum class Type {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  float32,
  float64,
  text,        // variable length, UTF-8
  fixed_text,  // what HDF5 itself writes on dimension scales
};

std::string_view name_of(Type type);

template <class T>
constexpr Type type_of() {
  if constexpr (std::same_as<T, std::string>) return Type::text;
  if constexpr (std::same_as<T, Half>) return Type::float16;
  if constexpr (std::same_as<T, float>) return Type::float32;
  if constexpr (std::same_as<T, double>) return Type::float64;
  if constexpr (std::same_as<T, std::int8_t>) return Type::int8;
  if constexpr (std::same_as<T, std::int16_t>) return Type::int16;
  if constexpr (std::same_as<T, std::int32_t>) return Type::int32;
  if constexpr (std::same_as<T, std::int64_t>) return Type::int64;
  if constexpr (std::same_as<T, std::uint8_t>) return Type::uint8;
  if constexpr (std::same_as<T, std::uint16_t>) return Type::uint16;
  if constexpr (std::same_as<T, std::uint32_t>) return Type::uint32;
  if constexpr (std::same_as<T, std::uint64_t>) return Type::uint64;
}

template <class T>
inline constexpr bool kIsReal = std::floating_point<T> || std::same_as<T, Half>;

// The number of elements of a shape; throws Error (bad_data) when it does not fit 64 bits.
std::size_t elements(const Shape& shape);

// How much may be read at once. What a file claims is compared with these before memory is taken.
struct Limits {
  std::size_t bytes = std::size_t{2} << 30;  // of one dataset
  std::size_t attribute_bytes = std::size_t{16} << 20;
  std::size_t members = 100'000;                                     // of one file
  std::size_t file_bytes = std::numeric_limits<std::size_t>::max();  // what the file can hold
};

// The values of a dataset or attribute: `bytes` holds numbers and fixed texts, `texts` the rest.
struct Values {
  Type type = Type::text;
  std::size_t width = 0;  // bytes of one element, 0 for text
  Shape shape;
  std::vector<char> bytes;
  std::vector<std::string> texts;

  // One element's bytes, row-major.
  std::string_view element(std::size_t i) const {
    return type == Type::text ? std::string_view(texts[i])
                              : std::string_view(bytes.data() + i * width, width);
  }
};

// How a dataset is laid out in the file.
struct Storage {
  Shape chunk = {};  // empty: contiguous
  unsigned gzip = 0;
  bool nan_fill = false;
};

Handle create_dataset(const Handle& parent, const std::string& name, Type type, const Shape& shape,
                      const Storage& storage);
void write(const Handle& dataset, Type type, const void* values);
void write_texts(const Handle& dataset, std::span<const std::string> texts);

struct DatasetInfo {
  Type type = Type::text;
  std::size_t width = 0;
  Shape shape;
  std::size_t stored = 0;  // bytes in the file; 0 when no value was ever written
};

Handle open_dataset(const Handle& parent, const std::string& path);

// Refuses types outside schema 1, data in other files, unknown filters, and shapes that claim more
// than the file can hold or `limits` allow.
DatasetInfo dataset_info(const Handle& dataset, const Limits& limits);
Values read(const Handle& dataset, const DatasetInfo& info, const Limits& limits, Heap& heap);

void write_attribute(const Handle& object, const std::string& name, const std::string& text);
void write_attribute(const Handle& object, const std::string& name, Type type, const Shape& shape,
                     const void* values);
std::vector<std::string> attribute_names(const Handle& object, std::size_t limit);
Values read_attribute(const Handle& object, const std::string& name, const Limits& limits,
                      Heap& heap);

// Makes a one-dimensional dataset a dimension scale; attaches a scale to an axis of a dataset.
void make_scale(const Handle& dataset, const std::string& name);
void attach_scale(const Handle& dataset, const Handle& scale, unsigned axis);

// The address (ObjectInfo) of the scale of each axis, 0 where there is none.
std::vector<std::uint64_t> scale_addresses(const Handle& dataset, std::size_t axes, Heap& heap);

}  // namespace headcount::h5
