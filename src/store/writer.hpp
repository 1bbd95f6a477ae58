// Writing trial files: datasets with named dimensions on the netCDF-4 model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "store/half.hpp"

namespace headcount {

using AttributeValue = std::variant<std::string, std::int64_t, double>;

// What a variable says of itself; the first two are required of every variable.
struct VariableInfo {
  std::string long_name = {};
  std::string units = {};  // "1" for plain numbers, indices, flags and text; "s", not "seconds"
  std::string definition = {};
  std::string source = {};
  std::vector<std::string> flag_meanings = {};  // for uint8: the words for 0, 1, 2, ...
  std::vector<std::pair<std::string, AttributeValue>> attributes = {};
  std::size_t chunk_axes = 0;  // with large variables: the last axes are what one chunk holds
  unsigned gzip = 0;           // compresses chunks, 1 (fast) to 9
};

// Collects one trial file. Groups are named by path ("/heads/decoder_self") and made when first
// used. What a caller does wrong throws Error (internal) with the path and what to do: a name taken
// or not a name ([A-Za-z0-9][A-Za-z0-9_.-]*), an unknown dimension, one used twice in a variable, a
// wrong number of values, missing units or long_name, text that is not UTF-8 (see readable_text).
class ResultWriter {
 public:
  ~ResultWriter();
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;

  void group(const std::string& path);

  // A dimension with a coordinate per place along it. Variables of `group` and of the groups below
  // it can use it.
  void dimension(const std::string& group, const std::string& name,
                 std::span<const std::int64_t> coordinates, const VariableInfo& info);
  void dimension(const std::string& group, const std::string& name,
                 std::span<const double> coordinates, const VariableInfo& info);
  void dimension(const std::string& group, const std::string& name,
                 std::span<const std::string> coordinates, const VariableInfo& info);

  // A dimension that is only a length.
  void dimension(const std::string& group, const std::string& name, std::size_t length);

  // Whether variables of `group` can use dimension `name`.
  bool has_dimension(const std::string& group, const std::string& name) const;

  // A variable with its values row-major over `dimensions`, each the nearest of that name in the
  // group or those above it. NaN is the missing value of floating types.
  using Names = std::vector<std::string>;
  void variable(const std::string& group, const std::string& name, const Names& dimensions,
                std::span<const Half> values, const VariableInfo& info);
  void variable(const std::string& group, const std::string& name, const Names& dimensions,
                std::span<const float> values, const VariableInfo& info);
  void variable(const std::string& group, const std::string& name, const Names& dimensions,
                std::span<const double> values, const VariableInfo& info);
  void variable(const std::string& group, const std::string& name, const Names& dimensions,
                std::span<const std::int32_t> values, const VariableInfo& info);
  void variable(const std::string& group, const std::string& name, const Names& dimensions,
                std::span<const std::int64_t> values, const VariableInfo& info);
  void variable(const std::string& group, const std::string& name, const Names& dimensions,
                std::span<const std::uint8_t> values, const VariableInfo& info);
  void variable(const std::string& group, const std::string& name, const Names& dimensions,
                std::span<const std::string> values, const VariableInfo& info);

  // One value; T is one of the types above.
  template <class T>
  void scalar(const std::string& group, const std::string& name, const T& value,
              const VariableInfo& info) {
    variable(group, name, {}, std::span<const T>(&value, 1), info);
  }

  // An attribute of a group ("/" for the file's own).
  void attribute(const std::string& group, const std::string& name, const AttributeValue& value);

 private:
  friend void publish_result(const std::filesystem::path& path,
                             const std::function<void(ResultWriter&)>& fill);
  struct File;
  explicit ResultWriter(const std::filesystem::path& name);
  std::vector<char> finish();

  std::unique_ptr<File> file_;
};

// Publishes the trial file that `fill` writes, whole or not at all (publish_file), with the root
// attributes `schema` and `content_sha256` added. The file is built in memory. The same content
// gives the same bytes on every run. Errors: what `fill` throws, io, cannot_create.
void publish_result(const std::filesystem::path& path,
                    const std::function<void(ResultWriter&)>& fill);

}  // namespace headcount
