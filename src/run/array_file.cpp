#include "run/array_file.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"

namespace headcount {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie");

constexpr std::string_view kMagic = "headcount arrays 1\n";
constexpr std::size_t kHashDigits = 64;

template <class T>
constexpr std::string_view type_name();
template <>
constexpr std::string_view type_name<float>() {
  return "float32";
}
template <>
constexpr std::string_view type_name<double>() {
  return "float64";
}
template <>
constexpr std::string_view type_name<std::int64_t>() {
  return "int64";
}

std::size_t size_of(std::string_view type) { return type == "float32" ? 4 : 8; }

class HashedFile {
 public:
  explicit HashedFile(const std::filesystem::path& path)
      : path_(path), file_(path, std::ios::binary) {
    if (!file_) fail(ExitCode::cannot_create);
  }

  void write(const void* data, std::size_t size) {
    hash_.add(data, size);
    put(data, size);
  }

  void finish() {
    const auto hash = hash_.hex();
    put(hash.data(), hash.size());
    file_.close();
    if (!file_) fail(ExitCode::io);
  }

 private:
  void put(const void* data, std::size_t size) {
    file_.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
    if (!file_) fail(ExitCode::io);
  }

  [[noreturn]] void fail(ExitCode code) const {
    throw Error(code, fmt::format("cannot write {}: {}", path_.string(), std::strerror(errno)));
  }

  std::filesystem::path path_;
  std::ofstream file_;
  Sha256 hash_;
};

}  // namespace

std::string array_file_hash(std::string_view body) { return sha256_hex(body); }

template <class T>
void ArrayWriter::add(std::string name, std::span<const T> values) {
  arrays_.push_back(
      {std::move(name), std::string(type_name<T>()), values.size(), std::as_bytes(values)});
}

void ArrayWriter::write(const std::filesystem::path& path) const {
  auto arrays = Json::array();
  for (const auto& array : arrays_) arrays.push_back({array.name, array.type, array.count});
  const auto header = to_text({{"meta", meta_}, {"arrays", std::move(arrays)}});
  const std::uint64_t size = header.size();
  HashedFile file(path);
  file.write(kMagic.data(), kMagic.size());
  file.write(&size, sizeof size);
  file.write(header.data(), header.size());
  for (const auto& array : arrays_) file.write(array.bytes.data(), array.bytes.size());
  file.finish();
}

ArrayReader::ArrayReader(std::string bytes, std::string name)
    : bytes_(std::move(bytes)), name_(std::move(name)) {
  const std::string_view all = bytes_;
  if (!all.starts_with(kMagic)) refuse("not a file of this kind");
  if (all.size() < kMagic.size() + sizeof(std::uint64_t) + kHashDigits) refuse("cut off");
  const auto body = all.substr(0, all.size() - kHashDigits);
  if (array_file_hash(body) != all.substr(body.size()))
    refuse("damaged: its contents do not have the hash at its end");
  read_header(body);
}

void ArrayReader::read_header(std::string_view body) {
  std::uint64_t size = 0;
  std::memcpy(&size, body.data() + kMagic.size(), sizeof size);
  std::size_t offset = kMagic.size() + sizeof size;
  if (size > body.size() - offset) refuse("its header is longer than the file");
  const auto header = parse_json(body.substr(offset, size));
  offset += size;
  if (!header.is_object() || !header.contains("meta") || !header.contains("arrays") ||
      !header["arrays"].is_array())
    refuse("its header is not one of arrays");
  for (const auto& entry : header["arrays"]) {
    if (!entry.is_array() || entry.size() != 3 || !entry[0].is_string() || !entry[1].is_string() ||
        !entry[2].is_number_unsigned())
      refuse("its header describes an array in a way that is not known");
    Array array{entry[0], entry[1], entry[2], offset};
    if (array.type != "float32" && array.type != "float64" && array.type != "int64")
      refuse(fmt::format("array {} has an unknown type", array.name));
    if (array.count > (body.size() - offset) / size_of(array.type))
      refuse(fmt::format("array {} is longer than the file", array.name));
    offset += array.count * size_of(array.type);
    arrays_.push_back(std::move(array));
  }
  if (offset != body.size()) refuse("it holds more than its header tells");
  meta_ = header["meta"];
}

const ArrayReader::Array* ArrayReader::find(const std::string& name) const {
  const auto found = std::find_if(arrays_.begin(), arrays_.end(),
                                  [&](const Array& array) { return array.name == name; });
  return found == arrays_.end() ? nullptr : &*found;
}

const ArrayReader::Array& ArrayReader::at(const std::string& name, std::string_view type) const {
  const auto* array = find(name);
  if (!array) refuse(fmt::format("it has no array {}", name));
  if (array->type != type) refuse(fmt::format("array {} is {}, not {}", name, array->type, type));
  return *array;
}

std::size_t ArrayReader::count(const std::string& name) const {
  const auto* array = find(name);
  if (!array) refuse(fmt::format("it has no array {}", name));
  return array->count;
}

template <class T>
std::vector<T> ArrayReader::read(const std::string& name) const {
  std::vector<T> values(at(name, type_name<T>()).count);
  read(name, std::span<T>(values));
  return values;
}

template <class T>
void ArrayReader::read(const std::string& name, std::span<T> values) const {
  const auto& array = at(name, type_name<T>());
  if (array.count != values.size())
    refuse(fmt::format("array {} has {} values, not {}", name, array.count, values.size()));
  if (!values.empty())
    std::memcpy(values.data(), bytes_.data() + array.offset, values.size_bytes());
}

void ArrayReader::refuse(const std::string& why) const {
  throw Error(ExitCode::bad_data, fmt::format("{}: {}", name_, why));
}

#define HEADCOUNT_INSTANTIATE(T)                                       \
  template void ArrayWriter::add(std::string, std::span<const T>);     \
  template std::vector<T> ArrayReader::read(const std::string&) const; \
  template void ArrayReader::read(const std::string&, std::span<T>) const;
HEADCOUNT_INSTANTIATE(float)
HEADCOUNT_INSTANTIATE(double)
HEADCOUNT_INSTANTIATE(std::int64_t)
#undef HEADCOUNT_INSTANTIATE

}  // namespace headcount
