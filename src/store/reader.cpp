#include "store/reader.hpp"

#include <cmath>
#include <concepts>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "store/content.hpp"
#include "store/schema.hpp"
#include "store/tree.hpp"

namespace headcount {
namespace {

using h5::Type;
using h5::Values;

// Calls `use` with a value of the C++ type of a number type.
template <class Use>
auto with_number(Type type, Use use) {
  switch (type) {
    case Type::int8:
      return use(std::int8_t{});
    case Type::int16:
      return use(std::int16_t{});
    case Type::int32:
      return use(std::int32_t{});
    case Type::int64:
      return use(std::int64_t{});
    case Type::uint8:
      return use(std::uint8_t{});
    case Type::uint16:
      return use(std::uint16_t{});
    case Type::uint32:
      return use(std::uint32_t{});
    case Type::uint64:
      return use(std::uint64_t{});
    case Type::float16:
      return use(Half{});
    case Type::float32:
      return use(float{});
    case Type::float64:
      return use(double{});
    case Type::text:
    case Type::fixed_text:
      break;
  }
  throw Error(ExitCode::internal, "text is not a number");
}

class Reading {
 public:
  Reading(const store::OpenFile& open, std::string what) : open_(open), what_(std::move(what)) {}

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ExitCode::bad_data, fmt::format("{}: {} {}", open_.path.string(), what_, why));
  }

  template <class To>
  std::vector<To> numbers(const Values& values) const {
    if (values.width == 0 || values.type == Type::fixed_text) refuse("holds text, not numbers");
    return with_number(values.type,
                       [&](auto example) { return convert<To, decltype(example)>(values); });
  }

  const std::vector<std::string>& texts(const Values& values) const {
    if (values.type != Type::text) refuse(fmt::format("holds {}, not text", name_of(values.type)));
    return values.texts;
  }

  template <class T>
  const T& only(const std::vector<T>& values, const h5::Shape& shape) const {
    if (!shape.empty()) refuse(fmt::format("has shape {}; one value was asked for", shape));
    return values.front();
  }

  Values values() const {
    Values values = open_.tree.values(what_);
    if (values.bytes.empty() && values.texts.empty() && h5::elements(values.shape) > 0)
      refuse("has a length and no values");
    return values;
  }

 private:
  template <class To, class From>
  std::vector<To> convert(const Values& values) const {
    std::vector<To> result(h5::elements(values.shape));
    if constexpr (std::same_as<To, From>) {
      if (!result.empty()) std::memcpy(result.data(), values.bytes.data(), values.bytes.size());
    } else if constexpr (h5::kIsReal<To> != h5::kIsReal<From>) {
      refuse(fmt::format("holds {}, which is not converted to {}", name_of(values.type),
                         name_of(h5::type_of<To>())));
    } else {
      for (std::size_t i = 0; i < result.size(); ++i) {
        From value;
        std::memcpy(&value, values.element(i).data(), sizeof value);
        if constexpr (std::integral<To>) {
          if (!std::in_range<To>(value))
            refuse(fmt::format("holds {} (value {}), which does not fit {}", value, i,
                               name_of(h5::type_of<To>())));
        }
        if constexpr (std::same_as<From, Half>)
          result[i] = to_float(value);
        else
          result[i] = static_cast<To>(value);
      }
    }
    return result;
  }

  const store::OpenFile& open_;
  std::string what_;
};

std::string leaf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

const Values& find_attribute(const store::Object& object, const std::string& name,
                             const Reading& reading) {
  const auto found = object.attributes.find(name);
  if (found == object.attributes.end()) reading.refuse("does not exist");
  return found->second;
}

Reading reading_attribute(const store::OpenFile& open, const std::string& path,
                          const std::string& name) {
  return {open, fmt::format("attribute {} of {}", name, path)};
}

template <class T>
T attribute_number(const store::OpenFile& open, const std::string& path, const std::string& name) {
  const Reading reading = reading_attribute(open, path, name);
  const store::Object object = open.tree.describe(path);
  const Values& values = find_attribute(object, name, reading);
  return reading.only(reading.numbers<T>(values), values.shape);
}

store::Object describe_dataset(const store::OpenFile& open, const std::string& path) {
  if (open.tree.at(path).is_group) Reading(open, path).refuse("is a group, not a dataset");
  return open.tree.describe(path);
}

}  // namespace

ResultFile::ResultFile(const std::filesystem::path& path)
    : open_(std::make_unique<const store::OpenFile>(path)) {}
ResultFile::~ResultFile() = default;
ResultFile::ResultFile(ResultFile&&) noexcept = default;
ResultFile& ResultFile::operator=(ResultFile&&) noexcept = default;

const std::filesystem::path& ResultFile::path() const { return open_->path; }

bool ResultFile::exists(const std::string& path) const {
  return open_->tree.nodes().contains(path);
}

bool ResultFile::is_group(const std::string& path) const { return open_->tree.at(path).is_group; }

bool ResultFile::has_values(const std::string& path) const {
  if (is_group(path)) return false;
  const auto object = open_->tree.describe(path);
  return object.data.stored > 0 || h5::elements(object.data.shape) == 0;
}

std::vector<std::string> ResultFile::children(const std::string& path) const {
  return open_->tree.at(path).children;
}

std::vector<std::size_t> ResultFile::shape(const std::string& path) const {
  return describe_dataset(*open_, path).data.shape;
}

std::vector<std::string> ResultFile::dimensions(const std::string& path) const {
  std::vector<std::string> names;
  for (const auto& scale : describe_dataset(*open_, path).dimensions) names.push_back(leaf(scale));
  return names;
}

std::string ResultFile::dimension_path(const std::string& path, std::size_t axis) const {
  const auto object = describe_dataset(*open_, path);
  if (axis >= object.dimensions.size())
    Reading(*open_, path).refuse(fmt::format("has no axis {}", axis));
  return object.dimensions[axis];
}

std::string ResultFile::type(const std::string& path) const {
  return std::string(h5::name_of(describe_dataset(*open_, path).data.type));
}

std::vector<std::string> ResultFile::attributes(const std::string& path) const {
  std::vector<std::string> names;
  for (const auto& [name, values] : open_->tree.describe(path).attributes) names.push_back(name);
  return names;
}

bool ResultFile::has_attribute(const std::string& path, const std::string& name) const {
  return open_->tree.describe(path).attributes.contains(name);
}

std::string ResultFile::attribute_text(const std::string& path, const std::string& name) const {
  const Reading reading = reading_attribute(*open_, path, name);
  const store::Object object = open_->tree.describe(path);
  const Values& values = find_attribute(object, name, reading);
  return reading.only(reading.texts(values), values.shape);
}

std::int64_t ResultFile::attribute_integer(const std::string& path, const std::string& name) const {
  return attribute_number<std::int64_t>(*open_, path, name);
}

double ResultFile::attribute_real(const std::string& path, const std::string& name) const {
  return attribute_number<double>(*open_, path, name);
}

template <class T>
std::vector<T> ResultFile::read(const std::string& path) const {
  const Reading reading(*open_, path);
  return reading.numbers<T>(reading.values());
}

std::vector<std::string> ResultFile::read_texts(const std::string& path) const {
  const Reading reading(*open_, path);
  return reading.texts(reading.values());
}

template <class T>
T ResultFile::read_scalar(const std::string& path) const {
  const Reading reading(*open_, path);
  const Values values = reading.values();
  return reading.only(reading.numbers<T>(values), values.shape);
}

std::string ResultFile::read_text(const std::string& path) const {
  const Reading reading(*open_, path);
  const Values values = reading.values();
  return reading.only(reading.texts(values), values.shape);
}

template std::vector<float> ResultFile::read(const std::string&) const;
template std::vector<double> ResultFile::read(const std::string&) const;
template std::vector<std::int32_t> ResultFile::read(const std::string&) const;
template std::vector<std::int64_t> ResultFile::read(const std::string&) const;
template std::vector<std::uint8_t> ResultFile::read(const std::string&) const;
template float ResultFile::read_scalar(const std::string&) const;
template double ResultFile::read_scalar(const std::string&) const;
template std::int32_t ResultFile::read_scalar(const std::string&) const;
template std::int64_t ResultFile::read_scalar(const std::string&) const;
template std::uint8_t ResultFile::read_scalar(const std::string&) const;

std::optional<std::string> validate(const std::filesystem::path& path) {
  try {
    const ResultFile file(path);
    const auto schema = file.attribute_integer("/", std::string(kSchemaAttribute));
    if (schema != kSchema)
      return fmt::format("{} has schema {}; this program reads {}", path.string(), schema, kSchema);
    const auto stored = file.attribute_text("/", std::string(kContentAttribute));
    const auto computed = store::content_sha256(store::OpenFile(path).tree);
    if (stored != computed)
      return fmt::format("{} was altered: its content_sha256 is {} and its content gives {}",
                         path.string(), stored, computed);
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace headcount
