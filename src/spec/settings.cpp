#include "spec/settings.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"

namespace headcount {
namespace {

[[noreturn]] void fail(std::string_view key, std::string_view why) {
  throw Error(ExitCode::internal, fmt::format("setting {}: {}", key, why));
}

template <class T>
T value_or_fail(const std::optional<T>& value, const Settings::Value& setting) {
  if (!value)
    fail(setting.key, fmt::format("'{}' is not of kind {}", setting.text, name_of(setting.kind)));
  return *value;
}

std::string_view section_of(std::string_view key) {
  const auto dot = key.find('.');
  return dot == std::string_view::npos ? "" : key.substr(0, dot);
}

}  // namespace

const Settings::Value& Settings::at(std::string_view key) const {
  for (const auto& value : values_)
    if (value.key == key) return value;
  fail(key, "there is no such setting");
}

const Settings::Value& Settings::at(std::string_view key, ValueKind kind) const {
  const Value& value = at(key);
  if (value.kind != kind)
    fail(key, fmt::format("is of kind {}, not {}", name_of(value.kind), name_of(kind)));
  return value;
}

std::int64_t Settings::integer(std::string_view key) const {
  const Value& value = at(key, ValueKind::integer);
  return value_or_fail(parse_integer(value.text), value);
}

double Settings::real(std::string_view key) const {
  const Value& value = at(key, ValueKind::real);
  return value_or_fail(parse_real(value.text), value);
}

bool Settings::boolean(std::string_view key) const {
  const Value& value = at(key, ValueKind::boolean);
  return value_or_fail(parse_boolean(value.text), value);
}

const std::string& Settings::text(std::string_view key) const {
  const Value& value = at(key);
  switch (value.kind) {
    case ValueKind::text:
    case ValueKind::label:
    case ValueKind::choice:
    case ValueKind::heads:
      return value.text;
    default:
      fail(key, fmt::format("is of kind {}, not text", name_of(value.kind)));
  }
}

std::vector<std::int64_t> Settings::integers(std::string_view key) const {
  const Value& value = at(key, ValueKind::integers);
  std::vector<std::int64_t> numbers;
  for (const auto& word : list(key)) numbers.push_back(value_or_fail(parse_integer(word), value));
  return numbers;
}

std::vector<std::string> Settings::list(std::string_view key) const {
  const Value& value = at(key);
  if (value.kind != ValueKind::integers && value.kind != ValueKind::choices)
    fail(key, fmt::format("is of kind {}, not a list", name_of(value.kind)));
  std::string_view text = value.text;
  if (!text.empty() && text.front() == '(') text = text.substr(1, text.size() - 2);
  return split(text, ' ');
}

std::vector<std::string> Settings::texts(std::string_view key) const {
  return split(at(key, ValueKind::names).text, ',');
}

bool Settings::has(std::string_view key) const {
  return std::any_of(values_.begin(), values_.end(),
                     [&](const Value& value) { return value.key == key; });
}

const std::string& Settings::canonical(std::string_view key) const { return at(key).text; }

Settings Settings::sections(const std::vector<std::string>& names) const {
  Settings part;
  for (const auto& value : values_) {
    const std::string first = value.key.substr(0, value.key.find('.'));
    if (std::find(names.begin(), names.end(), first) != names.end()) part.add(value);
  }
  return part;
}

std::string Settings::to_text() const {
  std::string text;
  std::string_view section;
  for (const auto& value : values_) {
    if (section_of(value.key) != section) {
      section = section_of(value.key);
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", section);
    }
    const auto leaf = section.empty() ? value.key : value.key.substr(section.size() + 1);
    text += value.text.empty() ? leaf + " =\n" : fmt::format("{} = {}\n", leaf, value.text);
  }
  return text;
}

std::string Settings::hash() const { return sha256_hex(to_text()); }

}  // namespace headcount
