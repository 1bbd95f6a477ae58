#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spec/value_type.hpp"

namespace headcount {

// The resolved keys of one trial: every key of the schema that is not descriptive, in the schema's
// order, each with its canonical value.
class Settings {
 public:
  struct Value {
    std::string key;
    ValueKind kind{};
    std::string text;  // canonical
    bool operator==(const Value&) const = default;
  };

  void add(Value value) { values_.push_back(std::move(value)); }
  const std::vector<Value>& values() const { return values_; }

  // Each throws Error (internal) for a key that is not there, is of another kind or holds a word
  // in place of a value (ask `is` first).
  std::int64_t integer(std::string_view key) const;
  double real(std::string_view key) const;
  bool boolean(std::string_view key) const;
  const std::string& text(std::string_view key) const;  // of text, label, choice and heads
  std::vector<std::int64_t> integers(std::string_view key) const;  // one number, or one a layer
  std::vector<std::string> list(std::string_view key) const;  // of integers and choices, with words
  std::vector<std::string> texts(std::string_view key) const;  // of names

  bool has(std::string_view key) const;
  const std::string& canonical(std::string_view key) const;  // of any kind
  bool is(std::string_view key, std::string_view value) const { return canonical(key) == value; }

  // The keys of these sections; a key above all sections goes by its own name ("seed").
  Settings sections(const std::vector<std::string>& names) const;

  // INI that parse_experiment reads back to equal settings.
  std::string to_text() const;
  // sha256 of to_text().
  std::string hash() const;

  bool operator==(const Settings&) const = default;

 private:
  const Value& at(std::string_view key) const;
  const Value& at(std::string_view key, ValueKind kind) const;
  std::vector<Value> values_;
};

}  // namespace headcount
