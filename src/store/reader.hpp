// Reading trial files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headcount {

namespace store {
struct OpenFile;
}

// A trial file, open for reading. Nothing in the file is trusted: what it claims is checked before
// memory is taken. Paths are absolute ("/training/loss"). Errors are Error: no_input when the file
// is missing, bad_data when it is not HDF5, damaged, not a tree of groups and datasets of schema
// 1's types, or has no such object, always with the file's name.
class ResultFile {
 public:
  explicit ResultFile(const std::filesystem::path& path);
  ~ResultFile();
  ResultFile(ResultFile&&) noexcept;
  ResultFile& operator=(ResultFile&&) noexcept;

  const std::filesystem::path& path() const;

  bool exists(const std::string& path) const;
  bool is_group(const std::string& path) const;
  bool has_values(const std::string& path) const;  // a dataset, and not only a dimension's length

  // Names, in the order they were written; empty for a dataset.
  std::vector<std::string> children(const std::string& path) const;

  std::vector<std::size_t> shape(const std::string& path) const;
  std::vector<std::string> dimensions(const std::string& path) const;  // names, "" for none
  std::string dimension_path(const std::string& path, std::size_t axis) const;
  std::string type(const std::string& path) const;  // "float32", "uint8", "text", ...

  std::vector<std::string> attributes(const std::string& path) const;
  bool has_attribute(const std::string& path, const std::string& name) const;
  std::string attribute_text(const std::string& path, const std::string& name) const;
  std::int64_t attribute_integer(const std::string& path, const std::string& name) const;
  double attribute_real(const std::string& path, const std::string& name) const;

  // The values, row-major. Floating types convert to each other; integer types do where every value
  // fits; nothing else does. T: float, double, int32, int64, uint8.
  template <class T>
  std::vector<T> read(const std::string& path) const;
  std::vector<std::string> read_texts(const std::string& path) const;

  // Of a scalar.
  template <class T>
  T read_scalar(const std::string& path) const;
  std::string read_text(const std::string& path) const;

 private:
  std::unique_ptr<const store::OpenFile> open_;
};

// Why `path` is not a whole, unaltered result of this schema; nothing when it is one.
std::optional<std::string> validate(const std::filesystem::path& path);

}  // namespace headcount
