#include "store/writer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "store/content.hpp"
#include "store/h5_data.hpp"
#include "store/schema.hpp"

namespace headcount {
namespace {

using h5::Handle;
using h5::Shape;

// Below this many bytes chunks cost more than they help.
constexpr std::size_t kSmall = std::size_t{32} << 10;

// What netCDF calls a dimension scale that is no variable, before its length.
constexpr auto kPureDimension = "This is a netCDF dimension but not a netCDF variable.";

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ExitCode::internal, fmt::format("trial file, {}: {}", path, why));
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void check_name(const std::string& path, const std::string& name) {
  const auto allowed = [](char c) {
    return is_letter_or_digit(c) || c == '_' || c == '.' || c == '-';
  };
  if (name.empty() || !is_letter_or_digit(name.front()) || !std::ranges::all_of(name, allowed))
    refuse(path, fmt::format("'{}' is not a name; names are letters, digits, _ . - and begin with "
                             "a letter or digit",
                             name));
}

void check_text(const std::string& path, const std::string& text) {
  if (!is_readable_text(text))
    refuse(path, fmt::format("the text '{}' is not UTF-8 or holds NUL; see readable_text",
                             readable_text(text)));
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string child_of(const std::string& group, const std::string& name) {
  return group == "/" ? "/" + name : group + "/" + name;
}

void write_value(const Handle& object, const std::string& path, const std::string& name,
                 const AttributeValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    check_text(path, *text);
    h5::write_attribute(object, name, *text);
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    h5::write_attribute(object, name, h5::Type::int64, {}, integer);
  } else {
    h5::write_attribute(object, name, h5::Type::float64, {}, &std::get<double>(value));
  }
}

void check_info(const std::string& path, const VariableInfo& info) {
  if (info.long_name.empty()) refuse(path, "long_name is missing");
  if (info.units.empty()) refuse(path, "units are missing; \"1\" for what has none");
  // xarray would turn the numbers into its own type of time span.
  constexpr std::array time_units{"days",         "hours",        "minutes",    "seconds",
                                  "milliseconds", "microseconds", "nanoseconds"};
  if (std::ranges::find(time_units, info.units) != time_units.end())
    refuse(path,
           fmt::format("units '{}' change the type in xarray; write s, ms, us or ns", info.units));
}

template <class T>
void check_flags(const std::string& path, std::span<const T> values, const VariableInfo& info) {
  if (info.flag_meanings.empty()) return;
  if constexpr (std::same_as<T, std::uint8_t>) {
    for (const auto& meaning : info.flag_meanings) check_name(path, meaning);
    for (const auto value : values)
      if (value >= info.flag_meanings.size())
        refuse(path, fmt::format("the flag {} has no meaning", value));
  } else {
    refuse(path, "only uint8 variables have flags");
  }
}

void write_info(const Handle& dataset, const std::string& path, const VariableInfo& info) {
  const auto text = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) write_value(dataset, path, name, value);
  };
  text("long_name", info.long_name);
  text("units", info.units);
  text("definition", info.definition);
  text("source", info.source);
  if (!info.flag_meanings.empty()) {
    std::vector<std::uint8_t> values;
    for (std::size_t i = 0; i < info.flag_meanings.size(); ++i)
      values.push_back(static_cast<std::uint8_t>(i));
    h5::write_attribute(dataset, "flag_values", h5::Type::uint8, {values.size()}, values.data());
    text("flag_meanings", join(info.flag_meanings, " "));
  }
  std::set<std::string> taken{"long_name",      "units",         "definition", "source",
                              "flag_values",    "flag_meanings", "CLASS",      "NAME",
                              "DIMENSION_LIST", "REFERENCE_LIST"};
  for (const auto& [name, value] : info.attributes) {
    check_name(path, name);
    if (!taken.insert(name).second) refuse(path, fmt::format("attribute '{}' is taken", name));
    write_value(dataset, path, name, value);
  }
}

template <class T>
void write_values(const Handle& dataset, const std::string& path, std::span<const T> values) {
  if constexpr (std::same_as<T, std::string>) {
    for (const auto& text : values) check_text(path, text);
    if (!values.empty()) h5::write_texts(dataset, values);
  } else {
    if (!values.empty()) h5::write(dataset, h5::type_of<T>(), values.data());
  }
}

template <class T>
T missing_value() {
  if constexpr (std::same_as<T, Half>)
    return kHalfNaN;
  else
    return std::numeric_limits<T>::quiet_NaN();
}

Shape chunk_of(const std::string& path, const Shape& shape, std::size_t bytes,
               const VariableInfo& info) {
  if (info.chunk_axes > shape.size())
    refuse(path, fmt::format("a chunk of {} axes of {}", info.chunk_axes, shape.size()));
  if (info.gzip > 9) refuse(path, fmt::format("gzip = {}, more than 9", info.gzip));
  if (info.chunk_axes == 0 || bytes < kSmall) return {};
  Shape chunk(shape.size(), 1);
  std::copy_backward(shape.end() - static_cast<std::ptrdiff_t>(info.chunk_axes), shape.end(),
                     chunk.end());
  return chunk;
}

}  // namespace

struct ResultWriter::File {
  struct Dimension {
    Handle scale;
    std::size_t length;
  };

  explicit File(const std::filesystem::path& file_name) : file_path(file_name), file(file_name) {}

  std::filesystem::path file_path;
  h5::MemoryFile file;
  std::map<std::string, Handle> groups;
  std::map<std::string, Dimension> dimensions;
  std::set<std::string> taken;  // every object's path

  // The group, made with those above it where it is new.
  const Handle& open_group(const std::string& path) {
    if (const auto found = groups.find(path); found != groups.end()) return found->second;
    if (!path.starts_with('/')) refuse(path, "the path of a group begins with /");
    const std::string name = path.substr(path.rfind('/') + 1);
    const Handle& parent = open_group(parent_of(path));
    take(path, name);
    return groups[path] = h5::create_group(parent, name);
  }

  void take(const std::string& path, const std::string& name) {
    check_name(path, name);
    if (!taken.insert(path).second) refuse(path, "the name is taken");
  }

  const Dimension* find_dimension(std::string group, const std::string& name) const {
    for (;; group = parent_of(group)) {
      const auto found = dimensions.find(child_of(group, name));
      if (found != dimensions.end()) return &found->second;
      if (group == "/") return nullptr;
    }
  }

  std::vector<const Dimension*> find_dimensions(const std::string& group, const std::string& path,
                                                const Names& names) const {
    std::vector<const Dimension*> found;
    for (const auto& name : names) {
      if (std::ranges::count(names, name) > 1)
        refuse(path, fmt::format("dimension '{}' is used twice; name the second one differently, "
                                 "as query_pos and key_pos",
                                 name));
      found.push_back(find_dimension(group, name));
      if (!found.back())
        refuse(path, fmt::format("there is no dimension '{}' in its group or above", name));
    }
    return found;
  }

  template <class T>
  void add_dimension(const std::string& group, const std::string& name, std::span<const T> values,
                     const VariableInfo& info) {
    const std::string path = child_of(group, name);
    check_info(path, info);
    check_flags(path, values, info);
    if constexpr (std::same_as<T, double>) {
      if (std::ranges::any_of(values, [](double x) { return std::isnan(x); }))
        refuse(path, "a coordinate cannot be NaN");
    }
    const Handle& parent = open_group(group);
    take(path, name);
    Handle scale = h5::create_dataset(parent, name, h5::type_of<T>(), {values.size()}, {});
    write_values(scale, path, values);
    h5::make_scale(scale, name);
    write_info(scale, path, info);
    dimensions[path] = {std::move(scale), values.size()};
  }

  template <class T>
  void add_variable(const std::string& group, const std::string& name, const Names& names,
                    std::span<const T> values, const VariableInfo& info) {
    constexpr h5::Type type = h5::type_of<T>();
    const std::string path = child_of(group, name);
    check_info(path, info);
    check_flags(path, values, info);
    const Handle& parent = open_group(group);
    if (find_dimension(group, name))
      refuse(path, "a dimension has this name; a variable of that name would be its coordinates");
    const auto axes = find_dimensions(group, path, names);
    Shape shape;
    for (const Dimension* axis : axes) shape.push_back(axis->length);
    if (h5::elements(shape) != values.size())
      refuse(path, fmt::format("{} values for [{}], which has {}", values.size(), join(names, ", "),
                               h5::elements(shape)));
    take(path, name);
    const Shape chunk = chunk_of(path, shape, values.size_bytes(), info);
    const Handle dataset =
        h5::create_dataset(parent, name, type, shape, {chunk, info.gzip, h5::kIsReal<T>});
    write_values(dataset, path, values);
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
      h5::attach_scale(dataset, axes[axis]->scale, static_cast<unsigned>(axis));
    if constexpr (h5::kIsReal<T>) {
      const T missing = missing_value<T>();
      h5::write_attribute(dataset, "_FillValue", type, {1}, &missing);
    }
    write_info(dataset, path, info);
  }
};

ResultWriter::ResultWriter(const std::filesystem::path& name)
    : file_(std::make_unique<File>(name)) {
  file_->groups["/"] = h5::open_group(file_->file.handle(), "/");
  attribute("/", std::string(kSchemaAttribute), kSchema);
}

ResultWriter::~ResultWriter() = default;

void ResultWriter::group(const std::string& path) { file_->open_group(path); }

void ResultWriter::dimension(const std::string& group, const std::string& name,
                             std::span<const std::int64_t> coordinates, const VariableInfo& info) {
  file_->add_dimension(group, name, coordinates, info);
}

void ResultWriter::dimension(const std::string& group, const std::string& name,
                             std::span<const double> coordinates, const VariableInfo& info) {
  file_->add_dimension(group, name, coordinates, info);
}

void ResultWriter::dimension(const std::string& group, const std::string& name,
                             std::span<const std::string> coordinates, const VariableInfo& info) {
  file_->add_dimension(group, name, coordinates, info);
}

void ResultWriter::dimension(const std::string& group, const std::string& name,
                             std::size_t length) {
  const std::string path = child_of(group, name);
  const Handle& parent = file_->open_group(group);
  file_->take(path, name);
  Handle scale = h5::create_dataset(parent, name, h5::Type::float32, {length}, {});
  h5::make_scale(scale, fmt::format("{}{:10}", kPureDimension, length));
  file_->dimensions[path] = {std::move(scale), length};
}

bool ResultWriter::has_dimension(const std::string& group, const std::string& name) const {
  return file_->find_dimension(group, name) != nullptr;
}

void ResultWriter::variable(const std::string& group, const std::string& name,
                            const Names& dimensions, std::span<const Half> values,
                            const VariableInfo& info) {
  file_->add_variable(group, name, dimensions, values, info);
}

void ResultWriter::variable(const std::string& group, const std::string& name,
                            const Names& dimensions, std::span<const float> values,
                            const VariableInfo& info) {
  file_->add_variable(group, name, dimensions, values, info);
}

void ResultWriter::variable(const std::string& group, const std::string& name,
                            const Names& dimensions, std::span<const double> values,
                            const VariableInfo& info) {
  file_->add_variable(group, name, dimensions, values, info);
}

void ResultWriter::variable(const std::string& group, const std::string& name,
                            const Names& dimensions, std::span<const std::int32_t> values,
                            const VariableInfo& info) {
  file_->add_variable(group, name, dimensions, values, info);
}

void ResultWriter::variable(const std::string& group, const std::string& name,
                            const Names& dimensions, std::span<const std::int64_t> values,
                            const VariableInfo& info) {
  file_->add_variable(group, name, dimensions, values, info);
}

void ResultWriter::variable(const std::string& group, const std::string& name,
                            const Names& dimensions, std::span<const std::uint8_t> values,
                            const VariableInfo& info) {
  file_->add_variable(group, name, dimensions, values, info);
}

void ResultWriter::variable(const std::string& group, const std::string& name,
                            const Names& dimensions, std::span<const std::string> values,
                            const VariableInfo& info) {
  file_->add_variable(group, name, dimensions, values, info);
}

void ResultWriter::attribute(const std::string& group, const std::string& name,
                             const AttributeValue& value) {
  const Handle& object = file_->open_group(group);
  const std::string path = fmt::format("attribute {} of {}", name, group);
  check_name(path, name);
  if (name == kContentAttribute || !file_->taken.insert(path).second)
    refuse(path, "it is set already");
  write_value(object, path, name, value);
}

std::vector<char> ResultWriter::finish() {
  file_->dimensions.clear();
  file_->groups.clear();
  const h5::MemoryFile& file = file_->file;
  const store::Tree tree(file.handle(), file.bytes(), file_->file_path,
                         {.file_bytes = file.size()});
  const std::string hash = store::content_sha256(tree);
  h5::write_attribute(h5::open_group(file_->file.handle(), "/"), std::string(kContentAttribute),
                      hash);
  return file_->file.close();
}

void publish_result(const std::filesystem::path& path,
                    const std::function<void(ResultWriter&)>& fill) {
  publish_file(path, [&](const std::filesystem::path& temporary) {
    ResultWriter writer(temporary);
    fill(writer);
    const auto image = writer.finish();
    std::ofstream file(temporary, std::ios::binary);
    file.write(image.data(), static_cast<std::streamsize>(image.size()));
    if (!file.flush())
      throw Error(ExitCode::io,
                  fmt::format("cannot write {}: {}", temporary.string(), std::strerror(errno)));
  });
}

}  // namespace headcount
