#include "attention/sites.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/enumeration.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace headcount {
namespace {

constexpr auto kSiteNames = enumeration<Site>("site", "encoder_self", "decoder_self", "cross");

// The numbers a field of a selector stands for: one number, or all below `count`.
std::vector<int> numbers(const std::string& field, int count) {
  std::vector<int> chosen;
  if (field == "*") {
    for (int i = 0; i < count; ++i) chosen.push_back(i);
  } else if (const auto value = parse_integer(field); value && *value >= 0 && *value < count) {
    chosen.push_back(static_cast<int>(*value));
  }
  return chosen;
}

std::string described(const HeadCounts& counts) {
  std::vector<std::string> sites;
  for (const Site site : kSites) {
    std::vector<std::string> heads;
    for (const int n : counts.layers(site)) heads.push_back(std::to_string(n));
    if (!heads.empty())
      sites.push_back(fmt::format("{} with {} layers of ({}) heads", name_of(site), heads.size(),
                                  join(heads, " ")));
  }
  return sites.empty() ? "no attention" : join(sites, "; ");
}

}  // namespace

std::string_view name_of(Site site) { return kSiteNames.name(site); }
Site parse_site(std::string_view text) { return kSiteNames.parse(text); }

std::string to_string(const HeadId& id) {
  return fmt::format("{}:{}:{}", name_of(id.site), id.layer, id.head);
}

bool HeadCounts::contains(const HeadId& id) const {
  const auto& heads = layers(id.site);
  return id.layer >= 0 && id.layer < static_cast<int>(heads.size()) && id.head >= 0 &&
         id.head < heads[static_cast<std::size_t>(id.layer)];
}

int HeadCounts::total() const {
  int total = 0;
  for (const Site site : kSites)
    for (const int heads : layers(site)) total += heads;
  return total;
}

std::vector<HeadId> HeadCounts::all() const {
  std::vector<HeadId> all;
  for_each([&](const HeadId& id) { all.push_back(id); });
  return all;
}

int HeadCounts::first_index(Site site, int layer) const {
  int index = 0;
  for (const Site s : kSites) {
    const auto& heads = layers(s);
    const auto end = s == site ? static_cast<std::size_t>(layer) : heads.size();
    for (std::size_t l = 0; l < end; ++l) index += heads.at(l);
    if (s == site) break;
  }
  return index;
}

std::vector<HeadId> select_heads(std::string_view text, const HeadCounts& counts) {
  std::string list(text);
  std::replace_if(
      list.begin(), list.end(), [](char c) { return c == ' ' || c == '\t'; }, ',');
  std::vector<HeadId> chosen;
  std::set<std::string> seen;  // a list can name all heads of a large model many times over
  for (const auto& piece : split(list, ',')) {
    if (piece.empty() || !seen.insert(piece).second) continue;
    const auto fields = split(piece, ':');
    if (fields.size() != 3)
      throw Error(ExitCode::bad_data,
                  fmt::format("'{}' does not name a head: write SITE:LAYER:HEAD, for example "
                              "decoder_self:0:3 or decoder_self:*:0",
                              piece));
    const Site site = parse_site(fields[0]);
    const auto before = chosen.size();
    for (const int layer : numbers(fields[1], static_cast<int>(counts.layers(site).size())))
      for (const int head :
           numbers(fields[2], counts.layers(site)[static_cast<std::size_t>(layer)]))
        chosen.push_back({site, layer, head});
    if (chosen.size() == before)
      throw Error(ExitCode::bad_data,
                  fmt::format("'{}' names no head of this model, which has {}; layers and heads "
                              "count from 0",
                              piece, described(counts)));
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

}  // namespace headcount
