#include "run/memory.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include <fmt/format.h>

#include "base/text.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEADCOUNT_HAS_SHADOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HEADCOUNT_HAS_SHADOW 1
#endif
#endif
#ifndef HEADCOUNT_HAS_SHADOW
#define HEADCOUNT_HAS_SHADOW 0
#endif

namespace headcount {
namespace fs = std::filesystem;
namespace {

constexpr auto kUnlimited = std::numeric_limits<std::int64_t>::max();

// The number a file holds; nothing for "max" and where there is none.
std::optional<std::int64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return parse_integer(word);
}

std::int64_t available_in_system(const fs::path& root) {
  std::ifstream file(root / "proc/meminfo");
  std::int64_t kibibytes = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    if (words >> name >> kibibytes && name == "MemAvailable:") return kibibytes * 1024;
  }
  return kUnlimited;
}

// What the group and those around it leave, up to the hierarchy's top.
std::int64_t left_in_groups(const fs::path& top, fs::path group, const char* limit,
                            const char* usage) {
  std::int64_t left = kUnlimited;
  for (group = group.relative_path();; group = group.parent_path()) {
    if (const auto most = number_in(top / group / limit))
      left = std::min(
          left, std::max<std::int64_t>(0, *most - number_in(top / group / usage).value_or(0)));
    if (group.empty()) return left;
  }
}

std::int64_t left_by_control_groups(const fs::path& root) {
  std::int64_t left = kUnlimited;
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // number:controllers:path
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto controllers = line.substr(first + 1, second - first - 1);
    const auto group = line.substr(second + 1);
    if (controllers.empty())
      left = std::min(
          left, left_in_groups(root / "sys/fs/cgroup", group, "memory.max", "memory.current"));
    for (const auto& controller : split(controllers, ','))
      if (controller == "memory")
        left = std::min(left, left_in_groups(root / "sys/fs/cgroup/memory", group,
                                             "memory.limit_in_bytes", "memory.usage_in_bytes"));
  }
  return left;
}

}  // namespace

std::int64_t available_memory(const fs::path& root) {
  const auto available = std::min(available_in_system(root), left_by_control_groups(root));
  return available == kUnlimited ? 0 : available;
}

bool can_limit_memory() { return HEADCOUNT_HAS_SHADOW == 0; }

MemoryLimit::MemoryLimit(std::int64_t bytes) {
  ::getrlimit(RLIMIT_DATA, &before_);
  if (!can_limit_memory()) return;
  auto limit = before_;
  limit.rlim_cur = std::min(limit.rlim_max, static_cast<rlim_t>(bytes));
  ::setrlimit(RLIMIT_DATA, &limit);
}

MemoryLimit::~MemoryLimit() { ::setrlimit(RLIMIT_DATA, &before_); }

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  constexpr std::string_view kUnits = "KMGT";
  double unit = 1;
  if (!text.empty())
    if (const auto power = kUnits.find(text.back()); power != std::string_view::npos) {
      unit = std::pow(1024.0, static_cast<double>(power + 1));
      text.remove_suffix(1);
    }
  const auto number = parse_real(text);
  constexpr double kMost = 1e18;
  if (!number || *number * unit < 1 || *number * unit > kMost) return std::nullopt;
  return static_cast<std::int64_t>(*number * unit);
}

}  // namespace headcount
