#include "base/process.hpp"

#include <fstream>
#include <string>

#include <fmt/format.h>

#include "base/text.hpp"

namespace headcount {

std::optional<std::int64_t> process_start(std::int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string stat;
  std::getline(file, stat);
  const auto name_end = stat.rfind(')');  // the program's name may hold anything
  if (name_end == std::string::npos) return std::nullopt;
  const auto fields = split(trim(std::string_view(stat).substr(name_end + 1)), ' ');
  constexpr std::size_t kState = 3 - 3, kStart = 22 - 3;  // fields behind the first two
  if (fields.size() <= kStart || fields[kState] == "Z" || fields[kState] == "X")
    return std::nullopt;
  return parse_integer(fields[kStart]);
}

}  // namespace headcount
