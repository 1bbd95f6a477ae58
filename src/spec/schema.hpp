#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/value_type.hpp"

namespace headcount {

// What a key is when a spec does not say.
class Default {
 public:
  Default(const char* value) : text_(value) {}             // NOLINT: written as a plain value
  Default(std::string value) : text_(std::move(value)) {}  // NOLINT
  static Default required() { return Default(Form::required, ""); }
  // The value another key has in the same trial; that key has a default or value of its own.
  static Default same_as(std::string key) { return Default(Form::same_as, std::move(key)); }
  // What `values` say for the value another key has in the same trial, else `otherwise`.
  static Default by(std::string key, std::map<std::string, std::string> values,
                    std::string otherwise) {
    Default made(Form::by, std::move(otherwise));
    made.key_ = std::move(key);
    made.values_ = std::move(values);
    return made;
  }

  bool is_value() const { return form_ == Form::value; }
  bool is_required() const { return form_ == Form::required; }
  bool is_same_as() const { return form_ == Form::same_as; }
  bool is_by() const { return form_ == Form::by; }
  // The value, or what it is if the other key says nothing; of same_as, the other key's name.
  const std::string& text() const { return text_; }
  const std::string& key() const { return key_; }  // of by
  const std::map<std::string, std::string>& values() const { return values_; }

 private:
  enum class Form { value, required, same_as, by };
  Default(Form form, std::string text) : form_(form), text_(std::move(text)) {}
  Form form_ = Form::value;
  std::string text_, key_;
  std::map<std::string, std::string> values_;
};

// One key of a spec. In the file its name's first word is the section: "model.layers" is `layers`
// in [model]; a name without a dot stands above all sections.
struct Key {
  std::string name;
  ValueType type;
  Default fallback;
  std::string help;  // one line
  std::string unit = "";
  // Says what the experiment is and not what a trial does: no part of Settings, so that another
  // wording leaves trial ids as they are. Cannot be swept.
  bool descriptive = false;

  std::string section() const;  // "" above all sections
  std::string leaf() const;     // the name without its section
};

inline constexpr std::int64_t kMostTrials = 100'000;

// All keys a spec may hold: those of every spec (seed, experiment.name, .question, .source,
// .max-trials) and the given ones.
class Schema {
 public:
  // Throws Error (internal) for a schema that contradicts itself: a key twice, a default out of
  // its own range, a reserved section, same_as a key that is missing, of another type or itself
  // the same as another, by a key that is missing or a value it cannot have.
  explicit Schema(std::vector<Key> keys);

  // Keys without a section first, then section by section, each where it was first mentioned.
  const std::vector<Key>& keys() const { return keys_; }
  const Key* find(std::string_view name) const;      // nullptr: no such key
  std::vector<std::string> sections() const;         // in order, without ""
  bool has_section(std::string_view name) const;     // also "measure.importance" of deeper names
  std::string suggest(std::string_view name) const;  // "; did you mean 'model.layers'?" or ""

 private:
  void check(const Key& key) const;

  std::vector<Key> keys_;
  std::map<std::string, std::size_t, std::less<>> places_;
};

}  // namespace headcount
