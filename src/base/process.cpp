#include "base/process.hpp"

#include <algorithm>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

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

std::string host_name() {
  char name[256] = "unknown";
  ::gethostname(name, sizeof name - 1);
  return name;
}

namespace {

// What the logical processors of one physical core have in common: "0-1" or "0,4".
std::string siblings_of(int core) {
  std::ifstream file(
      fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", core));
  std::string siblings;
  std::getline(file, siblings);
  return siblings.empty() ? fmt::format("{}", core) : siblings;
}

}  // namespace

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return {};
  struct Core {
    int number, before;  // of its physical core
  };
  std::vector<Core> found;
  std::map<std::string, int> seen;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<std::size_t>(core), &set))
      found.push_back({core, seen[siblings_of(core)]++});
  std::ranges::stable_sort(found, {}, &Core::before);
  std::vector<int> cores;
  cores.reserve(found.size());
  for (const auto& core : found) cores.push_back(core.number);
  return cores;
}

bool stay_on_core(int core) {
  if (core < 0 || core >= CPU_SETSIZE) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace headcount
