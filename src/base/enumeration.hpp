#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace headcount {

// The names of an enumeration's values 0, 1, 2, ..., as specs and files write them.
template <class Enum, std::size_t N>
class Enumeration {
 public:
  // `kind` stands in messages: "mask kind".
  constexpr Enumeration(std::string_view kind, const std::array<std::string_view, N>& names)
      : kind_(kind), names_(names) {}

  std::string_view name(Enum value) const { return names_.at(static_cast<std::size_t>(value)); }
  std::vector<std::string> names() const { return {names_.begin(), names_.end()}; }

  // Throws Error (bad_data) with the known names and the nearest one.
  Enum parse(std::string_view text) const {
    for (std::size_t i = 0; i < N; ++i)
      if (names_[i] == text) return static_cast<Enum>(i);
    throw Error(ExitCode::bad_data, fmt::format("unknown {} '{}'{} (known: {})", kind_, text,
                                                did_you_mean(text, names()), join(names(), ", ")));
  }

 private:
  std::string_view kind_;
  std::array<std::string_view, N> names_;
};

// enumeration<Site>("site", "encoder_self", "decoder_self", "cross")
template <class Enum, class... Names>
constexpr Enumeration<Enum, sizeof...(Names)> enumeration(std::string_view kind, Names... names) {
  return {kind, {names...}};
}

}  // namespace headcount
