#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace headcount {

// What every entry of a registry says of itself; `headcount list` and docs/ print it.
struct About {
  std::string name;        // as written in a spec
  std::string definition;  // one line
  std::string source;      // paper or reference; "" for our own
};

// The named things of one kind, in the order they are listed. Entry has a member `about`.
template <class Entry>
class Registry {
 public:
  Registry(std::string kind, std::vector<Entry> entries)
      : kind_(std::move(kind)), entries_(std::move(entries)) {}

  const std::string& kind() const { return kind_; }
  const std::vector<Entry>& entries() const { return entries_; }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : entries_) names.push_back(entry.about.name);
    return names;
  }

  // Throws Error (bad_data) with the known names and the nearest one.
  const Entry& at(std::string_view name) const {
    for (const auto& entry : entries_)
      if (entry.about.name == name) return entry;
    throw Error(ExitCode::bad_data, fmt::format("unknown {} '{}'{} (known: {})", kind_, name,
                                                did_you_mean(name, names()), join(names(), ", ")));
  }

 private:
  std::string kind_;
  std::vector<Entry> entries_;
};

}  // namespace headcount
