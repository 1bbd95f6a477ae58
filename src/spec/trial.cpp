#include "spec/trial.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/sha256.hpp"
#include "spec/lexical.hpp"

namespace headcount {
namespace {

constexpr std::size_t kLongestSlug = 80;

std::string_view last_word(std::string_view key) { return key.substr(key.rfind('.') + 1); }

}  // namespace

std::string slug_of(const Point& point, std::string_view otherwise) {
  std::string slug;
  for (const auto& [key, value] : point) {
    const auto word = last_word(key);
    const auto sharing = std::count_if(point.begin(), point.end(), [&](const auto& other) {
      return last_word(other.first) == word;
    });
    if (!slug.empty()) slug += '_';
    slug +=
        fmt::format("{}-{}", sharing > 1 ? std::string_view(key) : word, safe_characters(value));
  }
  return file_safe(slug.empty() ? otherwise : slug, kLongestSlug);
}

std::string slug_of_case(std::string_view name, const Point& point) {
  if (point.empty()) return file_safe(name, kLongestSlug);
  return file_safe(fmt::format("{}_{}", name, slug_of(point, "")), kLongestSlug);
}

std::string trial_id(std::string_view slug, const Settings& settings, std::string_view data_hash) {
  const auto hash = sha256_hex(fmt::format("{}data_hash = {}\n", settings.to_text(), data_hash));
  return fmt::format("{}-{}", slug, hash.substr(0, 12));
}

}  // namespace headcount
