#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace headcount {

// A file of named arrays, little-endian:
//
//   magic line | size of the header, 8 bytes | header, JSON | arrays, in order | SHA-256, 64 digits
//
// The header holds "meta", for the caller, and "arrays": name, type and count of each. The hash is
// over all that stands before it.
class ArrayWriter {
 public:
  explicit ArrayWriter(Json meta) : meta_(std::move(meta)) {}

  // T: float, double, int64. The values must stay where they are until the file is written.
  template <class T>
  void add(std::string name, std::span<const T> values);

  // Throws Error (io, cannot_create).
  void write(const std::filesystem::path& path) const;

 private:
  struct Array {
    std::string name;
    std::string type;
    std::size_t count = 0;
    std::span<const std::byte> bytes;
  };
  Json meta_;
  std::vector<Array> arrays_;
};

// Nothing in the file is trusted. Errors: Error (bad_data) with `name`, the file's.
class ArrayReader {
 public:
  // The whole file.
  ArrayReader(std::string bytes, std::string name);

  const Json& meta() const { return meta_; }
  bool has(const std::string& name) const { return find(name) != nullptr; }
  std::size_t count(const std::string& name) const;  // of a missing array: an error

  template <class T>
  std::vector<T> read(const std::string& name) const;
  // Into memory that must be as long.
  template <class T>
  void read(const std::string& name, std::span<T> values) const;

  [[noreturn]] void refuse(const std::string& why) const;

 private:
  struct Array {
    std::string name;
    std::string type;
    std::size_t count = 0;
    std::size_t offset = 0;
  };
  const Array* find(const std::string& name) const;
  const Array& at(const std::string& name, std::string_view type) const;
  void read_header(std::string_view body);

  std::string bytes_;
  std::string name_;
  Json meta_;
  std::vector<Array> arrays_;
};

// What ArrayWriter puts at the end of such a file, for the bytes before it.
std::string array_file_hash(std::string_view body);

}  // namespace headcount
