#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/interval.hpp"

namespace headcount {

enum class ValueKind {
  text,      // anything one line of a spec can hold; may be empty
  label,     // a name that can serve as a file name
  integer,   //
  real,      //
  boolean,   // yes or no (also true, false, on, off)
  choice,    // one of several names
  integers,  // 8, or one per layer: (8 8 4 4)
  choices,   // pre, or one per layer: (pre post)
  names,     // several names: a, b, c; may be empty
  heads,     // heads: decoder_self:0:*, cross:1:2; may be empty
};
std::string_view name_of(ValueKind kind);

// A value in its one canonical form (0.10 is 0.1, true is yes), or why it is none.
struct Converted {
  std::string text;
  std::string problem;  // "": converted
  bool ok() const { return problem.empty(); }
};

// What values a key takes. Made by the functions of namespace `type` below.
class ValueType {
 public:
  explicit ValueType(ValueKind kind) : kind_(kind) {}
  ValueType(ValueKind kind, std::int64_t least, std::int64_t most)
      : kind_(kind), least_(least), most_(most) {}
  ValueType(ValueKind kind, Interval interval) : kind_(kind), interval_(std::move(interval)) {}
  ValueType(ValueKind kind, std::vector<std::string> choices)
      : kind_(kind), choices_(std::move(choices)) {}

  // The same type, which also takes this word in place of a value: auto; in a list, in place of
  // any of its values.
  ValueType or_word(std::string word) const;

  ValueKind kind() const { return kind_; }
  bool is_numeric() const;          // ranges make sense: integer, real, integers
  bool may_hold_commas() const;     // text, names, heads
  std::string range() const;        // "1 .. 64", "(0, 1]", "a, b, c"; "" when anything goes
  std::string description() const;  // "integer: 1 .. 64"
  bool operator==(const ValueType& other) const;

  // Strict: the whole text, no locale, no silent wrapping. Converting a canonical text gives it
  // back.
  Converted convert(std::string_view text) const;

 private:
  bool is_word(std::string_view text) const;
  Converted convert_integer(std::string_view text) const;
  Converted convert_real(std::string_view text) const;
  Converted convert_choice(std::string_view text) const;
  using ConvertOne = Converted (ValueType::*)(std::string_view) const;
  Converted convert_list(std::string_view text, ConvertOne one) const;
  Converted convert_names(std::string_view text) const;

  ValueKind kind_;
  std::int64_t least_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t most_ = std::numeric_limits<std::int64_t>::max();
  Interval interval_{"(-inf, inf)"};
  std::vector<std::string> choices_;
  std::vector<std::string> words_;
};

namespace type {

inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

ValueType text();
ValueType label();
ValueType integer(std::int64_t least, std::int64_t most = kNoLimit);
ValueType real(std::string interval);  // real("(0, 1]")
ValueType boolean();
ValueType choice(std::vector<std::string> names);                      // a registry's names()
ValueType integers(std::int64_t least, std::int64_t most = kNoLimit);  // bounds of each
ValueType choices(std::vector<std::string> names);                     // each one of these
ValueType names(std::vector<std::string> choices);                     // each from this set
ValueType heads();  // only its form is checked here; whether the heads exist, the model knows

}  // namespace type
}  // namespace headcount
