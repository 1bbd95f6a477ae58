#include "store/same.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "store/schema.hpp"
#include "store/tree.hpp"

namespace headcount {
namespace {

using h5::Shape;
using h5::Type;
using h5::Values;

std::string nan(std::string_view bytes) {
  return fmt::format("NaN ({:02x})", fmt::join(bytes, ""));
}

template <class T>
std::string print_number(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  if constexpr (std::same_as<T, Half>) {
    return to_float(value) == to_float(value) ? fmt::format("{}", to_float(value)) : nan(bytes);
  } else {
    if constexpr (std::floating_point<T>)
      if (value != value) return nan(bytes);
    return fmt::format("{}", value);
  }
}

std::string print(Type type, std::string_view element) {
  constexpr std::size_t longest = 60;
  switch (type) {
    case Type::int8:
      return print_number<std::int8_t>(element);
    case Type::int16:
      return print_number<std::int16_t>(element);
    case Type::int32:
      return print_number<std::int32_t>(element);
    case Type::int64:
      return print_number<std::int64_t>(element);
    case Type::uint8:
      return print_number<std::uint8_t>(element);
    case Type::uint16:
      return print_number<std::uint16_t>(element);
    case Type::uint32:
      return print_number<std::uint32_t>(element);
    case Type::uint64:
      return print_number<std::uint64_t>(element);
    case Type::float16:
      return print_number<Half>(element);
    case Type::float32:
      return print_number<float>(element);
    case Type::float64:
      return print_number<double>(element);
    case Type::text:
    case Type::fixed_text:
      break;
  }
  return fmt::format("\"{}\"{}", readable_text(element.substr(0, longest)),
                     element.size() > longest ? "..." : "");
}

// The place of row-major element `flat` in an array.
Shape index_of(std::size_t flat, const Shape& shape) {
  Shape index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return index;
}

// "" when equal.
std::string difference(const Values& a, const Values& b) {
  if (a.type != b.type || a.width != b.width)
    return fmt::format("type {} and {}", name_of(a.type), name_of(b.type));
  if (a.shape != b.shape) return fmt::format("shape {} and {}", a.shape, b.shape);
  if (a.bytes == b.bytes && a.texts == b.texts) return "";
  if (a.bytes.size() != b.bytes.size() || a.texts.size() != b.texts.size())
    return "only one has values";
  std::size_t first = 0;
  std::size_t count = 0;
  const std::size_t size = h5::elements(a.shape);
  for (std::size_t i = size; i-- > 0;)
    if (a.element(i) != b.element(i)) {
      first = i;
      ++count;
    }
  const std::string values =
      fmt::format("{} and {}", print(a.type, a.element(first)), print(b.type, b.element(first)));
  if (a.shape.empty()) return values;
  return fmt::format("{} of {} values, first at {}: {}", count, size, index_of(first, a.shape),
                     values);
}

class Comparison {
 public:
  Comparison(const store::Tree& a, const store::Tree& b, std::size_t limit)
      : a_(a), b_(b), limit_(limit) {}

  std::vector<Difference> run() {
    std::set<std::string> paths;
    for (const auto* tree : {&a_, &b_})
      for (const auto& [path, node] : tree->nodes())
        if (is_content(path)) paths.insert(path);
    for (const auto& path : paths)
      if (!is_full()) compare(path);
    return std::move(differences_);
  }

 private:
  bool is_full() const { return differences_.size() >= limit_; }

  void add(const std::string& path, const std::string& what) {
    if (!what.empty() && !is_full()) differences_.push_back({path, what});
  }

  void compare(const std::string& path) {
    const bool in_a = a_.nodes().contains(path);
    if (!in_a || !b_.nodes().contains(path))
      return add(path, fmt::format("only in the {} file", in_a ? "first" : "second"));
    const store::Object a = a_.describe(path);
    const store::Object b = b_.describe(path);
    if (a.is_group != b.is_group) return add(path, "a group and a dataset");
    compare_attributes(path, a, b);
    if (a.is_group) return;
    if (a.dimensions != b.dimensions)
      add(path, fmt::format("dimensions {} and {}", a.dimensions, b.dimensions));
    add(path, difference(a_.values(path), b_.values(path)));
  }

  void compare_attributes(const std::string& path, const store::Object& a, const store::Object& b) {
    auto names = a.attributes;
    names.insert(b.attributes.begin(), b.attributes.end());
    for (const auto& [name, values] : names) {
      if (path == "/" && name == kContentAttribute) continue;
      const auto in_a = a.attributes.find(name);
      const auto in_b = b.attributes.find(name);
      std::string what;
      if (in_a == a.attributes.end())
        what = "only in the second file";
      else if (in_b == b.attributes.end())
        what = "only in the first file";
      else
        what = difference(in_a->second, in_b->second);
      if (!what.empty()) add(path, fmt::format("attribute {}: {}", name, what));
    }
  }

  const store::Tree& a_;
  const store::Tree& b_;
  std::size_t limit_;
  std::vector<Difference> differences_;
};

}  // namespace

std::vector<Difference> same(const std::filesystem::path& a, const std::filesystem::path& b,
                             std::size_t limit) {
  const store::OpenFile first(a);
  const store::OpenFile second(b);
  return Comparison(first.tree, second.tree, limit).run();
}

}  // namespace headcount
